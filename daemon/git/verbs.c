/*
 * verbs.c - the verbs: open the repository, call git.c, print. The response is printed completely at the end, so an error leaves
 * no partial response.
 */
#include "git/internal.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	OUTPUT_MAX = 256 << 20,
	DISPLAY_MAX = 1024, /* bytes of a branch's displayed form */
	AUTHOR_MAX = 200,
	SUBJECT_MAX = 400,
	PATH_DISPLAY_MAX = 160,
	BLOB_MAX = 1 << 20, /* bytes of a file requested by --blob: manifests and suites */
	NOTE_MAX = 1 << 20,
	PROBLEM_MAX = 2048
};

static int print(const struct buf *out, struct fw_err *err)
{
	if (out->failed)
		return err_set(err, ERR_UNSUPPORTED, "the answer is larger than %d MiB", OUTPUT_MAX >> 20);
	return fd_write(STDOUT_FILENO, out->data, out->len) == 0 ? 0 : err_sys(err, "write the answer");
}

/* Reject a result if the repository was moved or removed meanwhile: objects may be missing only because of that. */
static int check_position(const struct git_repo *repo, const char *path, struct fw_err *err)
{
	if (git_repo_is_there(repo))
		return 0;
	err_clear(err);
	return err_set(err, ERR_BUSY, "%s: was moved or removed while it was read", path);
}

static int answer(const char *path, bool search, verb_body_fn *body, const struct verb_args *a, struct fw_err *err)
{
	struct git_repo *repo;
	struct buf out;
	int status;

	if (git_repo_open(path, search, &repo, err) != 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	status = body(repo, a, &out, err);
	if (status < 0 && err->code == ERR_NOT_FOUND) { /* the repository may have been moved back meanwhile */
		err_clear(err);
		buf_clear(&out);
		status = body(repo, a, &out, err);
	}
	if (check_position(repo, path, err) != 0)
		status = -1;
	else if (status == 0)
		status = print(&out, err);
	buf_fini(&out);
	git_repo_close(repo);
	return status;
}

int verb_answer(const struct verb_args *a, verb_body_fn *body, struct fw_err *err)
{
	return answer(a->worktree ? a->worktree : a->repo, a->worktree != NULL, body, a, err);
}

/* End the response's only object. */
static int end_line(struct jsonw *j)
{
	jsonw_object_end(j);
	buf_putc(j->out, '\n');
	return 0;
}

static void kv_sha(struct jsonw *j, const char *key, const char *sha)
{
	jsonw_kv_string(j, key, *sha ? sha : NULL);
}

/* ---- tips, fetch ---- */

static int print_tip(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err)
{
	struct buf *out = arg;
	struct buf text;
	struct jsonw j;

	(void)err;
	buf_init(&text, 1 << 20);
	jsonw_init(&j, out);
	jsonw_object(&j);
	name_encode(&text, name, strlen(name));
	jsonw_kv_string(&j, "name", text.data);
	buf_clear(&text);
	name_display(&text, name, strlen(name), DISPLAY_MAX);
	jsonw_kv_string(&j, "display", text.data);
	jsonw_kv_string(&j, "commit", commit);
	if (*problem)
		jsonw_kv_string(&j, "problem", problem);
	buf_fini(&text);
	return end_line(&j);
}

int body_tips(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct pulls pulls;
	int result = git_repo_branches(repo, print_tip, out, err);

	if (result != 0 || !a->pulls)
		return result;
	if (a->found) {
		pulls_print(repo, a->found, out);
		return 0;
	}
	result = pulls_begin(&pulls, a->pulls, a->pull, a->n_pull, err);
	if (result == 0)
		result = git_repo_pulls(repo, &pulls, err);
	if (result == 0)
		pulls_print(repo, &pulls, out);
	pulls_fini(&pulls);
	return result;
}

int verb_heads(const struct verb_args *a, struct fw_err *err)
{
	struct buf out;
	int result;

	if (url_check(a->url, err) != 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	result = git_server_branches(a->url, &a->access, print_tip, &out, err);
	if (result == 0)
		result = print(&out, err);
	buf_fini(&out);
	return result;
}

int verb_fetch(const struct verb_args *a, struct fw_err *err)
{
	struct verb_args fetched = *a;
	struct pulls pulls = { .n = 0 };
	int result = a->pulls ? pulls_begin(&pulls, a->pulls, a->pull, a->n_pull, err) : 0;

	fetched.found = &pulls;
	if (result == 0)
		result = mirror_update(a->url, a->mirror, &a->access, a->pulls ? &pulls : NULL, err);
	if (result == 0)
		result = answer(a->mirror, false, body_tips, &fetched, err);
	pulls_fini(&pulls);
	return result;
}

/* ---- base ---- */

struct parents {
	struct jsonw *json;
	const char *not_this;
	int n;
};

static int add_parent(void *arg, const char *sha, struct fw_err *err)
{
	struct parents *p = arg;

	(void)err;
	if (strcmp(sha, p->not_this) != 0) {
		jsonw_string(p->json, sha);
		p->n++;
	}
	return 0;
}

/* Find the commit of the upstream branch; "": there is no such branch. */
static int upstream_commit(struct git_repo *repo, const char *encoded, char *sha, struct fw_err *err)
{
	struct fw_err why = { 0 };
	struct buf name;
	int result = 0;

	sha[0] = '\0';
	if (!encoded)
		return 0;
	buf_init(&name, 8192);
	if (name_decode(&name, encoded) != 0)
		result = err_set(err, ERR_INVALID, "--upstream %.200s: not a percent-encoded branch name", encoded);
	else if (git_repo_branch(repo, name.data, sha, &why) != 0 && why.code != ERR_NOT_FOUND)
		result = err_set(err, why.code, "%s", why.text);
	buf_fini(&name);
	return result;
}

/* Find the merge-base with a commit; "": there is none, or the commit no longer exists (rewritten history). */
static int base_with(struct git_repo *repo, const struct verb_args *a, char *base, struct fw_err *err)
{
	struct git_commit_info with;
	struct fw_err why = { 0 };

	if (git_repo_commit(repo, a->with, &with, &why) != 0)
		return why.code == ERR_NOT_FOUND ? 0 : err_set(err, why.code, "%s", why.text);
	git_commit_info_fini(&with);
	return git_repo_merge_base(repo, a->target, a->with, base, err);
}

int body_base(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct git_commit_info target;
	char upstream[GIT_HEX], base[GIT_HEX] = "";
	struct parents parents = { .not_this = a->target };
	struct jsonw j;

	if (git_repo_commit(repo, a->target, &target, err) != 0)
		return -1;
	git_commit_info_fini(&target);
	if (upstream_commit(repo, a->upstream, upstream, err) != 0)
		return -1;
	if (*upstream && git_repo_merge_base(repo, a->target, upstream, base, err) != 0)
		return -1;
	if (a->with && base_with(repo, a, base, err) != 0)
		return -1;
	jsonw_init(&j, out);
	parents.json = &j;
	jsonw_object(&j);
	kv_sha(&j, "merge_base", base);
	kv_sha(&j, "upstream", upstream);
	jsonw_kv_array(&j, "first_parents");
	if (a->first_parents > 0 &&
		git_repo_log(repo, a->target, NULL, a->first_parents + 1, true, add_parent, &parents, err) < 0)
		return -1;
	if (a->first_parents > 0 && !parents.n && (!*base || strcmp(base, a->target) == 0) &&
		git_repo_whole(repo, a->target, err) != 0)
		return -1;
	jsonw_array_end(&j);
	return end_line(&j);
}

int body_contains(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	bool is_on_branch;

	if (git_repo_on_branch(repo, a->commit, &is_on_branch, err) != 0)
		return -1;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_bool(&j, "on_branch", is_on_branch);
	return end_line(&j);
}

/* ---- tree, log ---- */

static void kv_display(struct jsonw *j, const char *key, const struct buf *raw, size_t max)
{
	struct buf text;

	buf_init(&text, max + 16);
	name_display(&text, raw->data, raw->len, max);
	jsonw_kv_string(j, key, text.data);
	buf_fini(&text);
}

static void print_commit(struct jsonw *j, const struct git_commit_info *c)
{
	int i;

	jsonw_kv_string(j, "commit", c->sha);
	jsonw_kv_string(j, "tree", c->tree);
	jsonw_kv_array(j, "parents");
	for (i = 0; i < c->n_parents; i++)
		jsonw_string(j, c->parent[i]);
	jsonw_array_end(j);
	kv_display(j, "author", &c->author, AUTHOR_MAX);
	kv_display(j, "subject", &c->subject, SUBJECT_MAX);
	jsonw_kv_int(j, "committed_at_ms", c->committed_at_ms);
}

/* Return whether a path is relative and has no ".", ".." or empty component; "" is the root. */
static int check_path(const char *path, struct fw_err *err)
{
	const char *at = path;

	while (*at) {
		size_t len = strcspn(at, "/");

		if (!len || (len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
			return err_set(
				err, ERR_INVALID, "path `%.200s`: must be relative, without empty parts, `.` and `..`", path);
		at += len;
		if (*at == '/' && !*++at)
			return err_set(err, ERR_INVALID, "path `%.200s`: must not end with a slash", path);
	}
	return 0;
}

static int print_blob(
	struct git_repo *repo, struct jsonw *j, const char *tree, const char *path, struct buf *problem, struct fw_err *err)
{
	struct git_item item;
	struct fw_err why = { 0 };
	struct buf data, text;
	int found;

	if (check_path(path, err) != 0)
		return -1;
	found = git_repo_find(repo, tree, path, &item, err);
	if (found < 0)
		return -1;
	jsonw_key(j, path);
	if (!found || (item.kind != GIT_KIND_BLOB && item.kind != GIT_KIND_EXECUTABLE)) {
		jsonw_null(j);
		if (found && !problem->len)
			buf_printf(problem, "%s is not a plain file", path);
		return 0;
	}
	buf_init(&data, BLOB_MAX);
	buf_init(&text, (size_t)2 * BLOB_MAX);
	if (git_repo_blob(repo, item.oid, BLOB_MAX, &data, &why) == 0) {
		buf_base64(&text, data.data, data.len);
		jsonw_string(j, text.data);
	} else if (why.code == ERR_UNSUPPORTED) {
		jsonw_null(j);
		if (!problem->len)
			buf_printf(problem, "%s is larger than %d bytes", path, BLOB_MAX);
	} else {
		err_set(err, why.code, "%s: %s", path, why.text);
		found = -1;
	}
	buf_fini(&data);
	buf_fini(&text);
	return found < 0 ? -1 : 0;
}

static int print_oid(
	struct git_repo *repo, struct jsonw *j, const char *tree, const char *path, struct buf *problem, struct fw_err *err)
{
	const char *inside = strcmp(path, ".") == 0 ? "" : path; /* the whole tree */
	struct git_item item;
	int found;

	if (check_path(inside, err) != 0)
		return -1;
	found = git_repo_find(repo, tree, inside, &item, err);
	if (found < 0)
		return -1;
	jsonw_key(j, path);
	if (!found || item.kind == GIT_KIND_SUBMODULE || item.kind == GIT_KIND_LINK) {
		jsonw_null(j);
		if (found && !problem->len)
			buf_printf(problem, "%s is a %s", path,
				item.kind == GIT_KIND_LINK
					? "link; name the folder itself"
					: "submodule, whose files no commit has and flopwatch does not fetch; leave it out of `inputs`, or "
					  "commit the files themselves");
		return 0;
	}
	jsonw_object(j);
	jsonw_kv_string(j, "oid", item.oid);
	jsonw_kv_string(j, "kind", item.kind == GIT_KIND_TREE ? "tree" : "blob");
	jsonw_object_end(j);
	if (problem->len)
		return 0;
	return item.kind == GIT_KIND_TREE ? tree_check(repo, item.oid, path, problem, err)
					  : tree_check_file(repo, item.oid, path, problem, err);
}

static int print_requested(struct git_repo *repo, const struct verb_args *a, struct jsonw *j, const char *tree,
	struct buf *problem, struct fw_err *err)
{
	int i;

	jsonw_kv_object(j, "blobs");
	for (i = 0; i < a->n_blobs; i++)
		if (print_blob(repo, j, tree, a->blob[i], problem, err) != 0)
			return -1;
	jsonw_object_end(j);
	jsonw_kv_object(j, "oids");
	for (i = 0; i < a->n_oids; i++)
		if (print_oid(repo, j, tree, a->oids[i], problem, err) < 0)
			return -1;
	jsonw_object_end(j);
	jsonw_kv_string(j, "problem", problem->data);
	return 0;
}

int body_tree(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct git_commit_info info;
	struct buf problem;
	struct jsonw j;
	int result;

	if (git_repo_commit(repo, a->commit, &info, err) != 0)
		return -1;
	buf_init(&problem, PROBLEM_MAX);
	jsonw_init(&j, out);
	jsonw_object(&j);
	print_commit(&j, &info);
	result = print_requested(repo, a, &j, info.tree, &problem, err);
	end_line(&j);
	buf_fini(&problem);
	git_commit_info_fini(&info);
	return result;
}

struct log_out {
	struct git_repo *repo;
	struct buf *out;
};

static int log_commit(void *arg, const char *sha, struct fw_err *err)
{
	struct log_out *l = arg;
	struct git_commit_info info;
	struct jsonw j;

	if (git_repo_commit(l->repo, sha, &info, err) != 0)
		return -1;
	jsonw_init(&j, l->out);
	jsonw_object(&j);
	print_commit(&j, &info);
	git_commit_info_fini(&info);
	return end_line(&j);
}

int body_log(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct log_out l = { .repo = repo, .out = out };

	return git_repo_log(repo, a->from, a->without, a->count ? a->count : 100, a->first_parent, log_commit, &l, err);
}

static void print_path(void *arg, const char *path)
{
	struct buf text;

	buf_init(&text, PATH_DISPLAY_MAX + 16);
	name_display(&text, path, strlen(path), PATH_DISPLAY_MAX);
	jsonw_string(arg, text.data);
	buf_fini(&text);
}

int body_changes(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	int n;

	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_array(&j, "paths");
	n = git_repo_changes(repo, a->from, a->commit, a->count ? a->count : 100, print_path, &j, err);
	jsonw_array_end(&j);
	jsonw_kv_int(&j, "number", n);
	return n < 0 ? -1 : end_line(&j);
}

/* ---- tar, note, snapshot ---- */

int verb_tar(const struct verb_args *a, struct fw_err *err)
{
	struct git_repo *repo;
	int result;

	if (git_repo_open(a->repo, false, &repo, err) != 0)
		return -1;
	result = tree_write(repo, a->oid, STDOUT_FILENO, err);
	if (check_position(repo, a->repo, err) != 0)
		result = -1;
	git_repo_close(repo);
	return result;
}

/* Fetch the remote's notes before writing, because other users write notes, too. */
static int write_note(struct git_repo *repo, const struct verb_args *a, const char *text, struct fw_err *err)
{
	if (!a->push)
		return git_repo_note(repo, a->commit, text, err);
	if (url_check(a->push, err) != 0 || git_repo_notes_fetch(repo, a->push, &a->access, err) != 0 ||
		git_repo_note(repo, a->commit, text, err) != 0)
		return -1;
	return git_repo_notes_push(repo, a->push, &a->access, err);
}

int body_note(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	struct buf text;
	int fd = open(a->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result;

	(void)out;
	if (fd < 0)
		return err_sys(err, "open %s", a->file);
	buf_init(&text, NOTE_MAX);
	if (buf_read_fd(&text, fd) != 0)
		result = err_sys(err, "read %s", a->file);
	else if (text.failed)
		result = err_set(err, ERR_UNSUPPORTED, "%s: larger than %d bytes", a->file, NOTE_MAX);
	else if (strlen(text.data) != text.len || !text.len)
		result = err_set(err, ERR_INVALID, "%s: a note must be text, and not empty", a->file);
	else
		result = write_note(repo, a, text.data, err);
	close(fd);
	buf_fini(&text);
	return result;
}

int body_snapshot(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err)
{
	char commit[GIT_HEX], head[GIT_HEX];
	struct jsonw j;

	(void)a;
	if (git_repo_snapshot(repo, commit, head, err) != 0)
		return -1;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "commit", commit);
	kv_sha(&j, "head", head);
	return end_line(&j);
}
