/* checkout.c - the current checkout, and the repository that is read from it. */
#include "cli/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { COMMIT_MIN = 7, NAMES_MAX = 1 << 15, GIT_MS = 20000, GIT_OUTPUT_MAX = 1 << 20 };

bool checkout_climb(char *path)
{
	for (;;) {
		char git[PATH_MAX + 8];
		snprintf(git, sizeof git, "%s/.git", path);
		if (access(git, F_OK) == 0)
			return true;
		char *slash = strrchr(path, '/');
		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
}

int checkout_worktree(char *path, size_t size, struct fw_err *err)
{
	if (!getcwd(path, size))
		return err_sys(err, "the current directory");
	return checkout_climb(path)
		       ? 0
		       : err_set(err, ERR_NOT_FOUND,
				 "this is not inside a git checkout; go there, or name a branch or commit instead of \".\"");
}

/*
 * Run `git` in the checkout and append its output to `out`. Returns its exit status; -1: git is missing, or did not exit. Without
 * memory or descriptors the program ends with a line: nothing is known about the checkout then.
 */
static int run_git(const char *worktree, const char *const *words, struct buf *out)
{
	const char *argv[12] = { "git", "-C", worktree };
	struct proc_exit how;
	struct fw_err err = { 0 };
	for (int n = 0; words[n] && n < 8; n++)
		argv[3 + n] = words[n];
	int result = proc_run(&(struct proc_spec){ .argv = argv }, NULL, out, NULL, GIT_MS, &how, &err);
	if (err.is_shortage)
		exit(verb_fail_here(&err));
	return result != 0 || out->failed ? -1 : how.status;
}

/* The folder that contains the refs of a checkout: for a linked worktree that of its main checkout. */
static void find_main_checkout(const char *worktree, char *path, size_t size)
{
	char git[4200], line[4200] = "";
	snprintf(path, size, "%s", worktree);
	snprintf(git, sizeof git, "%s/.git", worktree);
	int fd = regular_open("", git, NULL); /* not a folder */
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fgets(line, sizeof line, f) && strncmp(line, "gitdir: ", 8) == 0) {
		char *end = strstr(line, "/worktrees/");
		if (end) {
			*end = '\0';
			snprintf(path, size, "%s", line + 8);
		}
	}
	fclose(f);
}

/*
 * The remote of the checkout with that address, "" none; with `only` only that remote. `remotes`: output of `git remote -v`.
 * Shape: name[size].
 */
static void find_remote(const char *remotes, const char *only, const char *url, char *name, size_t size)
{
	name[0] = '\0';
	for (const char *line = remotes; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char remote[256], address[4096];
		if (sscanf(line, "%255[^\t\n]\t%4095[^\n]", remote, address) != 2)
			continue;
		char *end = strrchr(address, ' '); /* " (fetch)" or " (push)" */
		if (end)
			*end = '\0';
		if ((!only || strcmp(remote, only) == 0) && remote_is_same(address, url)) {
			snprintf(name, size, "%s", remote);
			return;
		}
	}
}

/* "origin git@example.org:team/kernels.git, and 1 more", or a text that there is none. */
static void describe_remotes(const char *remotes, char *text, size_t size)
{
	char remote[256] = "", address[2048] = "";
	if (sscanf(remotes, "%255[^\t\n]\t%2047[^ \n]", remote, address) == 2)
		snprintf(text, size, "remote %s is %s", remote, address);
	else
		snprintf(text, size, "it has no remote");
}

static int no_match(struct client *c, const json_t *repos, const char *worktree, const char *remotes, struct fw_err *err)
{
	char ours[2400];
	struct buf theirs;
	json_t *repo;
	size_t i;
	int n = 0;
	describe_remotes(remotes, ours, sizeof ours);
	buf_init(&theirs, NAMES_MAX);
	json_array_foreach(json_object_get(repos, "items"), i, repo)
	{
		if (strcmp(value_text(repo, "state"), "gone") != 0)
			buf_printf(&theirs, "%s%s (%s)", n++ ? ", " : "", value_text(repo, "name"), value_text(repo, "url"));
	}
	err_set(err, ERR_NOT_FOUND,
		"the daemon at %s does not watch the repository of this checkout, %s (%s); it watches %s; add it "
		"under repos: in flopwatchd.yml and reload the daemon, name another daemon with --server URL, or one of its "
		"repositories with --repo NAME (see doc/troubleshooting.md#other-repository)",
		client_server(c), worktree, ours, n ? theirs.data : "none");
	buf_fini(&theirs);
	return -1;
}

/*
 * Find the repositories to which a remote (`only` NULL: any) refers. Returns their number; `names` gets each with its remote,
 * `out` the last one.
 */
static int find_by_remote(const json_t *repos, const char *remotes, const char *only, struct checkout *out, struct buf *names)
{
	json_t *repo;
	size_t i;
	int n = 0;
	buf_clear(names);
	json_array_foreach(json_object_get(repos, "items"), i, repo)
	{
		char remote[256];
		if (strcmp(value_text(repo, "state"), "gone") == 0)
			continue;
		find_remote(remotes, only, value_text(repo, "url"), remote, sizeof remote);
		if (!remote[0])
			continue;
		snprintf(out->repo, sizeof out->repo, "%s", value_text(repo, "name"));
		snprintf(out->remote, sizeof out->remote, "%s", remote);
		buf_printf(names, "%s%s (remote %s)", n++ ? ", " : "", out->repo, out->remote);
	}
	return n;
}

/* The value of a key in `git config`, "" none. Shape: value[size]. */
static void read_config(const char *worktree, const char *key, char *value, size_t size)
{
	const char *const get[] = { "config", "--get", key, NULL };
	struct buf text;
	buf_init(&text, 4096);
	bool has = run_git(worktree, get, &text) == 0;
	snprintf(value, size, "%.*s", has ? (int)strcspn(text.data, "\n") : 0, has ? text.data : "");
	buf_fini(&text);
}

/*
 * Remotes refer to several watched repositories: choose the one that git pushes the current branch to, else the one that it pulls
 * it from, else that of origin. Err: ERR_CONFLICT with the names of all.
 */
static int choose_remote(const json_t *repos, const char *remotes, struct checkout *out, struct buf *names, struct fw_err *err)
{
	static const char *const head[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
	char push[1200], pull[1200], chosen[4][256] = { "", "", "", "origin" };
	struct buf branch;
	buf_init(&branch, 4096);
	if (run_git(out->worktree, head, &branch) == 0) {
		int len = (int)strcspn(branch.data, "\n");
		snprintf(push, sizeof push, "branch.%.*s.pushRemote", len, branch.data);
		snprintf(pull, sizeof pull, "branch.%.*s.remote", len, branch.data);
		read_config(out->worktree, push, chosen[0], sizeof chosen[0]);
		read_config(out->worktree, pull, chosen[2], sizeof chosen[2]);
	}
	read_config(out->worktree, "remote.pushDefault", chosen[1], sizeof chosen[1]);
	buf_fini(&branch);
	for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
		if (chosen[i][0] && find_by_remote(repos, remotes, chosen[i], out, names) == 1)
			return 0;
	(void)find_by_remote(repos, remotes, NULL, out, names);
	out->repo[0] = out->remote[0] = '\0';
	return err_set(err, ERR_CONFLICT,
		"remotes of this checkout are several watched repositories: %s; name one with --repo NAME", names->data);
}

/* The repository that the daemon reads from this checkout itself. */
static bool find_itself(const json_t *repos, const char *main_checkout, struct checkout *out)
{
	json_t *repo;
	size_t i;
	json_array_foreach(json_object_get(repos, "items"), i, repo)
	{
		if (strcmp(value_text(repo, "state"), "gone") == 0 || !remote_is_same(main_checkout, value_text(repo, "url")))
			continue;
		snprintf(out->repo, sizeof out->repo, "%s", value_text(repo, "name"));
		return true;
	}
	return false;
}

/* A path of another repository is relative to the checkout, but the daemon runs elsewhere; "host:path" is no such path. */
static bool is_relative(const char *url)
{
	return url[0] && url[0] != '/' && !strstr(url, "://") && url[strcspn(url, ":/")] != ':';
}

/* The first line of the output of `git`. Returns false if it fails. Shape: line[size]. */
static bool read_line(const char *worktree, const char *const *words, char *line, size_t size)
{
	struct buf text;
	buf_init(&text, 4096);
	bool has = run_git(worktree, words, &text) == 0 && text.len > 0;
	snprintf(line, size, "%.*s", has ? (int)strcspn(text.data, "\n") : 0, has ? text.data : "");
	buf_fini(&text);
	return has;
}

void checkout_origin(const char *worktree, char *url, size_t size)
{
	char path[PATH_MAX + 1100], whole[PATH_MAX];
	read_config(worktree, "remote.origin.url", url, size);
	if (!is_relative(url))
		return;
	snprintf(path, sizeof path, "%s/%s", worktree, url);
	if (realpath(path, whole))
		snprintf(url, size, "%s", whole);
}

void checkout_upstream(const char *worktree, char *branch, size_t size)
{
	static const char *const of_origin[] = { "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", NULL };
	static const char *const mains[] = { "for-each-ref", "--count=1", "--format=main", "refs/heads/main",
		"refs/remotes/origin/main", NULL };
	static const char *const current[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
	static const char prefix[] = "origin/";
	if (read_line(worktree, of_origin, branch, size) && strncmp(branch, prefix, sizeof prefix - 1) == 0)
		memmove(branch, branch + sizeof prefix - 1, strlen(branch + sizeof prefix - 1) + 1);
	else if (!read_line(worktree, mains, branch, size) && !read_line(worktree, current, branch, size))
		snprintf(branch, size, "main");
}

int checkout_find(struct client *c, struct checkout *out, struct fw_err *err)
{
	static const char *const list_remotes[] = { "remote", "-v", NULL };
	json_t *repos = NULL;
	char main_checkout[4200];
	struct buf remotes, names;
	int result = 0;
	*out = (struct checkout){ .worktree = "" };
	if (checkout_worktree(out->worktree, sizeof out->worktree, NULL) != 0) {
		out->worktree[0] = '\0';
		return 0;
	}
	if (client_get(c, "/api/v1/repos", &repos, err) != 0)
		return -1;
	find_main_checkout(out->worktree, main_checkout, sizeof main_checkout);
	buf_init(&remotes, GIT_OUTPUT_MAX);
	buf_init(&names, NAMES_MAX);
	if (run_git(out->worktree, list_remotes, &remotes) != 0)
		buf_clear(&remotes);
	if (!find_itself(repos, main_checkout, out)) {
		const char *lines = remotes.len ? remotes.data : "";
		int n = find_by_remote(repos, lines, NULL, out, &names);
		if (n == 0)
			result = no_match(c, repos, out->worktree, lines, err);
		else if (n > 1)
			result = choose_remote(repos, lines, out, &names, err);
	}
	buf_fini(&names);
	buf_fini(&remotes);
	json_decref(repos);
	return result;
}

int checkout_check(struct client *c, const struct options *o, struct fw_err *err)
{
	struct checkout here;
	if (o->repo || checkout_find(c, &here, err) == 0)
		return 0;
	if (err->code != ERR_CONFLICT)
		return -1;
	err_clear(err); /* several repositories match this checkout */
	return 0;
}

int checkout_commit(const char *worktree, const char *name, char sha[65], struct fw_err *err)
{
	char peeled[300];
	const char *const read[] = { "rev-parse", "--verify", "--quiet", "--end-of-options", peeled, NULL };
	struct buf text;
	buf_init(&text, 4096);
	bool fits = (size_t)snprintf(peeled, sizeof peeled, "%s^{commit}", name) < sizeof peeled;
	bool is_read = fits && run_git(worktree, read, &text) == 0 && text.len >= 40;
	snprintf(sha, 65, "%.*s", is_read ? (int)strcspn(text.data, "\n") : 0, is_read ? text.data : "");
	buf_fini(&text);
	return oid_is_whole(sha) ? 0 : err_set(err, ERR_NOT_FOUND, "%s has no commit %.80s", worktree, name);
}

int checkout_head(const char *worktree, char sha[65], struct fw_err *err)
{
	static const char *const read[] = { "rev-parse", "--verify", "--quiet", "HEAD^{commit}", NULL };
	struct buf text;
	buf_init(&text, 4096);
	bool is_read = run_git(worktree, read, &text) == 0 && text.len >= 40;
	snprintf(sha, 65, "%.*s", is_read ? (int)strcspn(text.data, "\n") : 0, is_read ? text.data : "");
	buf_fini(&text);
	return oid_is_whole(sha)
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "git does not read the checked-out commit of %s; commit first, or name a commit", worktree);
}

bool checkout_has_newer(const struct checkout *here, const char *branch, const char *tip, char newer[65])
{
	char ref[1200];
	struct buf sha;
	bool is_newer = false;
	if (!here->worktree[0] || !here->repo[0])
		return false;
	snprintf(ref, sizeof ref, here->remote[0] ? "refs/remotes/%s/%s" : "refs/heads/%.0s%s", here->remote, branch);
	const char *const read[] = { "rev-parse", "--verify", "--quiet", ref, NULL };
	buf_init(&sha, 4096);
	if (run_git(here->worktree, read, &sha) == 0 && sha.len >= 40) {
		sha.data[strcspn(sha.data, "\n")] = '\0';
		snprintf(newer, 65, "%.64s", sha.data);
		const char *const compare[] = { "merge-base", "--is-ancestor", tip, newer, NULL };
		struct buf nothing;
		buf_init(&nothing, 4096);
		is_newer = oid_is_whole(newer) && strcmp(newer, tip) != 0 && run_git(here->worktree, compare, &nothing) == 0;
		buf_fini(&nothing);
	}
	buf_fini(&sha);
	return is_newer;
}

static bool has_ref(const char *worktree, const char *ref)
{
	const char *const read[] = { "rev-parse", "--verify", "--quiet", ref, NULL };
	struct buf ignored;
	buf_init(&ignored, 4096);
	bool has = run_git(worktree, read, &ignored) == 0;
	buf_fini(&ignored);
	return has;
}

bool checkout_is_unpushed(const struct checkout *here, const char *branch)
{
	char local[1200], remote[1200];
	if (!here->worktree[0] || !here->remote[0])
		return false;
	snprintf(local, sizeof local, "refs/heads/%s", branch);
	snprintf(remote, sizeof remote, "refs/remotes/%s/%s", here->remote, branch);
	return has_ref(here->worktree, local) && !has_ref(here->worktree, remote);
}

/* Whether git lists a ref below `prefix`, with `option` and its value if they are not NULL. */
static bool lists_ref(const char *worktree, const char *prefix, const char *option, const char *value)
{
	const char *const list[] = { "for-each-ref", "--count=1", "--format=%(refname)", prefix, option, value, NULL };
	struct buf text;
	buf_init(&text, 4096);
	bool has = run_git(worktree, list, &text) != 0 || text.len > 0; /* if git cannot list the changes, assume some */
	buf_fini(&text);
	return has;
}

bool checkout_is_commit_unpushed(const struct checkout *here, const char *sha, char *branch, size_t size)
{
	static const char *const head[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
	char refs[300];
	if (!here->worktree[0] || !here->remote[0] || !read_line(here->worktree, head, branch, size))
		return false;
	snprintf(refs, sizeof refs, "refs/remotes/%s", here->remote);
	return lists_ref(here->worktree, refs, NULL, NULL) && !lists_ref(here->worktree, "refs/remotes", "--contains", sha);
}

static bool has_uncommitted(const char *worktree)
{
	static const char *const list[] = { "status", "--porcelain", "--untracked-files=no", NULL };
	struct buf text;
	buf_init(&text, GIT_OUTPUT_MAX);
	bool has = run_git(worktree, list, &text) == 0 && text.len > 0;
	buf_fini(&text);
	return has;
}

/* Whether the daemon's repository contains a commit: a branch of that remote does, or the daemon measured it. -1: an error. */
static int is_commit_there(struct client *c, const struct checkout *here, const char *sha, struct fw_err *err)
{
	json_t *answer = NULL, *row;
	char refs[300];
	size_t i;
	int is_there = 0;
	snprintf(refs, sizeof refs, "refs/remotes/%s/", here->remote);
	if (lists_ref(here->worktree, refs, "--contains", sha))
		return 1;
	if (client_get_at(c, "/api/v1/commits/", sha, "", &answer, err) != 0) {
		if (err->code != ERR_NOT_FOUND)
			return -1;
		err_clear(err);
		return 0;
	}
	json_array_foreach(json_object_get(answer, "commits"), i, row)
	{
		if (strcmp(value_text(row, "repo"), here->repo) == 0)
			is_there = 1;
	}
	json_decref(answer);
	return is_there;
}

/* As checkout_find, for the repository `repo`; the remote is "" also if none of the checkout has its address. */
static int find_in_repo(struct client *c, const char *repo, struct checkout *out, struct fw_err *err)
{
	static const char *const list_remotes[] = { "remote", "-v", NULL };
	json_t *repos = NULL, *row;
	char main_checkout[4200];
	struct buf remotes;
	size_t i;
	*out = (struct checkout){ .worktree = "" };
	snprintf(out->repo, sizeof out->repo, "%s", repo);
	if (checkout_worktree(out->worktree, sizeof out->worktree, err) != 0 || client_get(c, "/api/v1/repos", &repos, err) != 0)
		return -1;
	find_main_checkout(out->worktree, main_checkout, sizeof main_checkout);
	buf_init(&remotes, GIT_OUTPUT_MAX);
	bool has_remotes = run_git(out->worktree, list_remotes, &remotes) == 0 && remotes.len > 0;
	json_array_foreach(json_object_get(repos, "items"), i, row)
	{
		const char *url = value_text(row, "url");
		if (has_remotes && strcmp(value_text(row, "name"), repo) == 0 && !remote_is_same(main_checkout, url))
			find_remote(remotes.data, NULL, url, out->remote, sizeof out->remote);
	}
	buf_fini(&remotes);
	json_decref(repos);
	return 0;
}

int checkout_pushed(struct client *c, const char *repo, char sha[65], struct fw_err *err)
{
	static const char *const head[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
	struct checkout here;
	char branch[256];
	sha[0] = '\0';
	if (find_in_repo(c, repo, &here, err) != 0)
		return -1;
	if (!here.remote[0])
		return 0;
	if (checkout_head(here.worktree, sha, err) != 0)
		return -1;
	bool is_changed = has_uncommitted(here.worktree);
	int is_there = is_changed ? 0 : is_commit_there(c, &here, sha, err);
	if (is_there)
		return is_there < 0 ? -1 : 0;
	if (!read_line(here.worktree, head, branch, sizeof branch))
		snprintf(branch, sizeof branch, "HEAD:refs/heads/BRANCH");
	return err_set(err, ERR_NOT_FOUND,
		"this checkout is not the one that the daemon reads, and repository %s does not have its %s; %s: git push %s %s",
		repo, is_changed ? "uncommitted files" : "commit", is_changed ? "commit and push them" : "push it", here.remote,
		branch);
}

/* Repositories that the command may refer to. */
struct candidates {
	struct buf names; /* separated by commas */
	char one[256];
	int n;
};

static void add(struct candidates *of, const char *name)
{
	if (of->n && strcmp(of->one, name) == 0)
		return; /* lists are ordered by repository, so duplicates are adjacent */
	buf_printf(&of->names, "%s%s", of->n++ ? ", " : "", name);
	snprintf(of->one, sizeof of->one, "%s", name);
}

static void forget(struct candidates *of)
{
	buf_clear(&of->names);
	of->n = 0;
}

/* Add the rows of an answer with status `result`, and release it. ERR_NOT_FOUND is an empty list. */
static int add_rows(int result, json_t *answer, const char *list, const char *key, struct candidates *of, struct fw_err *err)
{
	json_t *item;
	size_t i;
	json_array_foreach(json_object_get(answer, list), i, item)
	{
		if (strcmp(value_text(item, "state"), "gone") != 0)
			add(of, value_text(item, key));
	}
	json_decref(answer);
	if (result == 0 || err->code != ERR_NOT_FOUND)
		return result;
	err_clear(err);
	return 0;
}

static int add_all(struct client *c, struct candidates *of, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get(c, "/api/v1/repos", &answer, err);
	return add_rows(result, answer, "items", "name", of, err);
}

/* Add the repositories with a branch or commit of that name. */
static int add_holders(struct client *c, const char *what, struct candidates *of, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get_branches(c, NULL, what, &answer, err);
	result = add_rows(result, answer, "items", "repo", of, err);
	if (result == 0 && of->n == 0 && oid_is_prefix(what, COMMIT_MIN)) {
		answer = NULL;
		result = client_get_at(c, "/api/v1/commits/", what, "", &answer, err);
		result = add_rows(result, answer, "commits", "repo", of, err);
	}
	return result;
}

int checkout_request_which(const char *what, const char *repos, struct fw_err *err)
{
	return err_set(err, ERR_CONFLICT, "%s is in several repositories: %s; name one with --repo NAME", what, repos);
}

static int choose(struct client *c, const char *what, struct candidates *of, struct fw_err *err)
{
	struct checkout here;
	if (checkout_find(c, &here, err) != 0)
		return -1;
	if (here.repo[0])
		add(of, here.repo);
	else if (add_all(c, of, err) != 0)
		return -1;
	if (of->n == 1)
		return 0;
	forget(of);
	if (what && add_holders(c, what, of, err) != 0)
		return -1;
	if (of->n > 1)
		return checkout_request_which(what, of->names.data, err);
	if (of->n == 1)
		return 0;
	if (add_all(c, of, err) != 0)
		return -1;
	if (of->n == 0)
		return err_set(err, ERR_NOT_FOUND, "no repository is watched; add one under repos: in flopwatchd.yml");
	return err_set(err, ERR_CONFLICT, "%d repositories are watched: %s; name one with --repo NAME", of->n, of->names.data);
}

int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size)
{
	struct fw_err err = { 0 };
	struct candidates of = { 0 };
	buf_init(&of.names, NAMES_MAX);
	if (o->repo)
		add(&of, o->repo);
	else
		(void)choose(c, what, &of, &err);
	snprintf(name, size, "%s", of.one);
	buf_fini(&of.names);
	if (err.code == ERR_NONE)
		return EXIT_OK;
	return verb_fail_of_name(&err);
}
