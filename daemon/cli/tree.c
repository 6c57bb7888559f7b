/* tree.c - documented in internal.h. */
#include "cli/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { ANSWER_MAX = 32 << 20, GIT_MS = 120000, ARGS_MAX = 2 * MANIFEST_LIST_MAX + 16, SUITE_MAX = 1 << 20, DEPTH_MAX = 8 };

static const char manifest_name[] = ".flopwatch.yaml";

/* Answer of flopwatch-git. Own: json_decref. NULL with err. */
static json_t *request_git(const char *const *args, struct fw_err *err)
{
	const char *argv[ARGS_MAX + 1];
	char program[PATH_MAX];
	struct buf out, errors;
	struct proc_exit how;
	json_t *answer = NULL;
	int n = 1;

	if (proc_sibling("flopwatch-git", program, sizeof program, err) != 0)
		return NULL;
	argv[0] = program;
	while (*args && n < ARGS_MAX)
		argv[n++] = *args++;
	argv[n] = NULL;
	buf_init(&out, ANSWER_MAX);
	buf_init(&errors, 64 << 10);
	int result = proc_run(&(struct proc_spec){ .argv = argv }, NULL, &out, &errors, GIT_MS, &how, err);

	if (result == 0 && how.status != 0) {
		const char *message = strncmp(errors.data, "flopwatch-git: ", 15) == 0 ? errors.data + 15 : errors.data;

		err_set(err,
			how.status == PROC_EXIT_GONE    ? ERR_NOT_FOUND
			: how.status == PROC_EXIT_AGAIN ? ERR_BUSY
							: ERR_INVALID,
			"%.*s", (int)strcspn(message, "\n"), *message ? message : "flopwatch-git ended without a message");
	} else if (result == 0 && !(answer = json_loadb(out.data, out.len, 0, NULL))) {
		err_set(err, ERR_PROTOCOL, "flopwatch-git gave no answer that can be read");
	}
	buf_fini(&out);
	buf_fini(&errors);
	return answer;
}

/* Find the checkout that contains `folder`. */
static int find_root(struct tree *t, const char *folder, struct fw_err *err)
{
	char whole[PATH_MAX];

	if (!realpath(folder, whole))
		return err_sys(err, "%s", folder);
	snprintf(t->root, sizeof t->root, "%.*s", (int)sizeof t->root - 1, whole);
	if (checkout_climb(t->root))
		return 0;
	return err_set(err, ERR_NOT_FOUND,
		"%s is not inside a git checkout, and git lists the files of a push: run git init there; nothing has to be committed",
		folder);
}

static json_t *request_tree(const struct tree *t, const char *const *more, struct fw_err *err)
{
	const char *args[ARGS_MAX] = { "tree", "--repo", t->root, "--commit", t->commit };
	int n = 5;

	for (; *more && n + 1 < ARGS_MAX; more++)
		args[n++] = *more;
	args[n] = NULL;
	return request_git(args, err);
}

/* A blob of an answer. False: it is missing. */
static bool take_blob(const json_t *answer, const char *path, struct buf *out)
{
	const char *text = json_string_value(json_object_get(json_object_get(answer, "blobs"), path));

	return text && buf_unbase64(out, text, strlen(text)) == 0 && !out->failed;
}

static int read_manifest(struct tree *t, struct fw_err *err)
{
	json_t *answer = request_tree(t, (const char *const[]){ "--blob", manifest_name, NULL }, err);

	if (!answer)
		return -1;
	t->has_manifest = take_blob(answer, manifest_name, &t->text);
	json_decref(answer);
	return manifest_parse(t->has_manifest ? t->text.data : NULL, t->text.len, manifest_name, &t->manifest, err);
}

static int find_inputs(struct tree *t, struct fw_err *err)
{
	const struct manifest *m = &t->manifest;
	const char *args[2 * MANIFEST_LIST_MAX + 1] = { NULL };

	for (size_t i = 0; i < (size_t)m->n_inputs; i++) {
		args[2 * i] = "--oid";
		args[2 * i + 1] = m->input[i];
	}
	json_t *answer = request_tree(t, args, err);

	if (!answer)
		return -1;
	const char *problem = value_text(answer, "problem");
	int result = *problem ? err_set(err, ERR_INVALID, "%s", problem) : 0;

	for (int i = 0; i < m->n_inputs && result == 0; i++) {
		const char *oid = value_text(json_object_get(json_object_get(answer, "oids"), m->input[i]), "oid");
		char path[sizeof t->root + MANIFEST_TEXT_SIZE];

		snprintf(path, sizeof path, "%s/%s", t->root, m->input[i]);
		snprintf(t->oid[i], sizeof t->oid[i], "%s", oid);
		if (oid_is_whole(oid))
			continue;
		result =
			!t->has_manifest
				? err_set(err, ERR_NOT_FOUND,
					  "%s has neither .flopwatch.yaml nor %s, which would be built without one: run flopwatch init",
					  t->root, m->input[i])
			: access(path, F_OK) == 0
				? err_set(err, ERR_INVALID,
					  "%s: inputs name %s, which git ignores or which is empty, so no push has it",
					  manifest_name, m->input[i])
				: err_set(err, ERR_INVALID, "%s: inputs name %s, which is not in the checkout", manifest_name,
					  m->input[i]);
	}
	json_decref(answer);
	return result;
}

int tree_open(struct tree *t, const char *folder, struct fw_err *err)
{
	memset(t, 0, sizeof *t);
	buf_init(&t->text, SUITE_MAX);
	if (find_root(t, folder, err) != 0)
		return -1;
	json_t *answer = request_git((const char *const[]){ "snapshot", "--worktree", t->root, NULL }, err);

	if (!answer)
		return -1;
	snprintf(t->commit, sizeof t->commit, "%s", value_text(answer, "commit"));
	json_decref(answer);
	if (!oid_is_whole(t->commit))
		return err_set(err, ERR_PROTOCOL, "flopwatch-git names no commit");
	return read_manifest(t, err) != 0 ? -1 : find_inputs(t, err);
}

int tree_open_commit(struct tree *t, const char *folder, const char *name, struct fw_err *err)
{
	memset(t, 0, sizeof *t);
	buf_init(&t->text, SUITE_MAX);
	if (find_root(t, folder, err) != 0 || checkout_commit(t->root, name, t->commit, err) != 0)
		return -1;
	return read_manifest(t, err) != 0 ? -1 : find_inputs(t, err);
}

void tree_free(struct tree *t)
{
	buf_fini(&t->text);
}

/* ---- suites ---------------------------------------------------------------------------------------------------------------- */

/* Folder of installed suites, relative to this program, also in a build tree. Shape: path[size]. */
static int open_installed(const char *name, char *path, size_t size)
{
	static const char *const positions[] = { "../share/flopwatch/suites", "../../etc/suites", "../share/suites" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;
	int fd = -1;

	self[n > 0 ? n : 0] = '\0';
	if ((slash = strrchr(self, '/')))
		*slash = '\0';
	for (size_t i = 0; i < sizeof positions / sizeof positions[0] && fd < 0; i++) {
		if ((size_t)snprintf(path, size, "%s/%s/%s.yaml", self, positions[i], name) < size)
			fd = regular_open("", path, NULL);
	}
	if (fd < 0 && (size_t)snprintf(path, size, "/usr/share/flopwatch/suites/%s.yaml", name) < size)
		fd = regular_open("", path, NULL);
	return fd;
}

int tree_suite(const struct tree *t, const char *name, struct buf *out, char file[1024], struct fw_err *err)
{
	char path[2][MANIFEST_TEXT_SIZE];

	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return err_set(err, ERR_INVALID, "`%s` is not the name of a suite; e.g. ffa", name);
	snprintf(path[0], sizeof path[0], "etc/suites/%.200s.yaml", name);
	snprintf(path[1], sizeof path[1], ".flopwatch/suites/%.200s.yaml", name);
	json_t *answer = request_tree(t, (const char *const[]){ "--blob", path[0], "--blob", path[1], NULL }, err);

	if (!answer)
		return -1;
	for (int i = 0; i < 2; i++)
		if (take_blob(answer, path[i], out)) {
			snprintf(file, 1024, "%s", path[i]);
			json_decref(answer);
			return 0;
		}
	json_decref(answer);
	int fd = open_installed(name, file, 1024);

	if (fd < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no suite %s: not at %s of the checkout, and none is installed", name,
			path[0]);
	int result = buf_read_fd(out, fd) != 0 || out->failed ? err_set(err, ERR_INVALID, "%s cannot be read", file) : 0;

	close(fd);
	return result;
}

/* ---- files ----------------------------------------------------------------------------------------------------------------- */

int tree_pack(const struct tree *t, const char *oid, struct fw_err *err)
{
	char program[PATH_MAX], message[400] = "";
	struct proc child;
	struct proc_exit how;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), errors = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	const char *argv[] = { program, "tar", "--repo", t->root, "--oid", oid, NULL };
	struct proc_spec spec = { .argv = argv, .fd = { { fd, 1 }, { errors, 2 } }, .n_fd = 2 };
	int result = -1;

	if (fd < 0 || errors < 0)
		err_sys(err, "a temporary file in /tmp");
	else if (proc_sibling("flopwatch-git", program, sizeof program, err) == 0 && proc_spawn(&spec, &child, err) == 0)
		result = 0;
	while (result == 0 && !proc_reap(&child, &how))
		usleep(2000);
	if (result == 0 && how.status != 0) {
		ssize_t n = pread(errors, message, sizeof message - 1, 0);

		message[n > 0 ? n : 0] = '\0';
		result = err_set(err, ERR_INVALID, "the files cannot be packed: %.*s", (int)strcspn(message, "\n"), message);
	}
	if (result == 0 && lseek(fd, 0, SEEK_SET) < 0)
		result = err_sys(err, "a temporary file in /tmp");
	if (errors >= 0)
		close(errors);
	if (result != 0 && fd >= 0)
		close(fd);
	return result == 0 ? fd : -1;
}

bool tree_holds(const struct tree *t, const char *path)
{
	json_t *answer = request_tree(t, (const char *const[]){ "--oid", path, NULL }, NULL);
	bool is_there = json_is_object(json_object_get(json_object_get(answer, "oids"), path));

	json_decref(answer);
	return is_there;
}

static bool find_in(const struct tree *t, const char *dir, const char *name, int depth, char *path, size_t size)
{
	char whole[sizeof t->root + PATH_MAX], inside[PATH_MAX];
	bool is_found = false;
	struct dirent *d;
	struct stat st;

	snprintf(whole, sizeof whole, "%s/%s", t->root, dir);
	DIR *folder = opendir(whole);

	while (folder && !is_found && (d = readdir(folder))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || strcmp(d->d_name, ".git") == 0)
			continue;
		snprintf(inside, sizeof inside, "%s%s%s", dir, *dir ? "/" : "", d->d_name);
		snprintf(whole, sizeof whole, "%s/%s", t->root, inside);
		if (lstat(whole, &st) != 0)
			continue;
		is_found = S_ISREG(st.st_mode) && strcmp(d->d_name, name) == 0;
		if (is_found)
			snprintf(path, size, "%s", inside);
		else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			is_found = find_in(t, inside, name, depth + 1, path, size);
	}
	if (folder)
		closedir(folder);
	return is_found;
}

bool tree_find(const struct tree *t, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(name, '/');

	return find_in(t, "", slash ? slash + 1 : name, 0, path, size);
}
