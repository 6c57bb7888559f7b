/*
 * artifacts.c - selection of a program's artifacts. The build has ended, but it may have left any link: no path is walked
 * through one.
 */
#include "worker/sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_SIZE = 3 * BENCHMARK_TEXT_SIZE };

/* Path of an item, relative to the side's folder. */
static void path_of(const struct build_context *c, const struct msg_subject *s, const char *item, char out[PATH_SIZE])
{
	char name[BENCHMARK_TEXT_SIZE + 16];

	manifest_expand(item, device_kind_name(c->device), name, sizeof name);
	snprintf(out, PATH_SIZE, "%s/%s", s->build.dir, name);
}

/* Open the folder of `path`; `last` is its last component. Follows no link. */
static int open_parent(int root, const char *path, const char **last)
{
	char parent[PATH_SIZE];
	const char *slash = strrchr(path, '/');

	snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
	*last = slash + 1;
	return beneath_open(root, parent, O_PATH | O_DIRECTORY);
}

/* Make a folder writable for the program, which may run as another user. */
static int open_up(const struct build_context *c, int fd, struct fw_err *err)
{
	if (fchmod(fd, 0755) < 0 || (c->sandbox->drops_root && fchown(fd, SANDBOX_NOBODY, SANDBOX_NOBODY) < 0))
		return err_sys(err, "make a folder of the benchmark");
	return 0;
}

/* Make every folder above the last component of `path`, without following a link. */
static int make_parents(const struct build_context *c, int root, const char *path, struct fw_err *err)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = fd < 0 ? err_sys(err, "open a folder") : 0;

	for (const char *slash; result == 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char part[PATH_SIZE];
		int next = -1;

		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		if (strcmp(part, ".") == 0)
			continue;
		bool made = mkdirat(fd, part, 0755) == 0;

		if (made || errno == EEXIST)
			next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || (made && open_up(c, next, err) != 0))
			result = err_sys(err, "make folder %s of the benchmark", part);
		close(fd);
		fd = next;
	}
	if (fd >= 0)
		close(fd);
	return result;
}

/* Returns 1, 0 with `detail`, -1. */
static int move_one(const struct build_context *c, int from, int to, const char *path, const char *shown, char *detail,
	size_t size, struct fw_err *err)
{
	const char *last, *what = NULL;
	int source = open_parent(from, path, &last), target = -1;
	struct stat st;

	if (source < 0 || fstatat(source, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		what = errno == ELOOP || errno == EXDEV      ? "lies behind a symbolic link"
		       : errno == ENOENT || errno == ENOTDIR ? "is missing"
							     : strerror(errno);
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		what = S_ISLNK(st.st_mode) ? "is a symbolic link" : "is neither a file nor a folder";
	if (!what && make_parents(c, to, path, err) == 0) {
		target = open_parent(to, path, &last);
		if (target < 0)
			err_sys(err, "open the folder of artifact %.160s", shown);
		else if (renameat(source, last, target, last) < 0)
			what = strerror(errno);
	}
	if (source >= 0)
		close(source);
	if (what)
		snprintf(
			detail, size, "artifact %.160s %.60s after the build (see doc/troubleshooting.md#artifact)", shown, what);
	if (target >= 0)
		close(target);
	return what ? 0 : target >= 0 ? 1 : -1;
}

static int keep_all(const struct build_context *c, const struct msg_subject *s, int from, int to, char *detail, size_t size,
	struct fw_err *err)
{
	char path[PATH_SIZE];
	int result = open_up(c, to, err) != 0 ? -1 : 1;

	for (int i = 0; i < s->run.n_artifacts && result == 1; i++) {
		path_of(c, s, s->run.artifact[i], path);
		result = move_one(c, from, to, path, s->run.artifact[i], detail, size, err);
	}
	for (int i = 0; i < s->run.n_outputs && result == 1; i++) {
		path_of(c, s, s->run.output[i], path);
		(void)make_parents(c, to, path, NULL); /* an obstacle is reported when the output is missing */
	}
	snprintf(path, sizeof path, "%s/", s->build.dir);
	return result == 1 && make_parents(c, to, path, err) != 0 ? -1 : result;
}

int artifacts_keep(const struct build_context *c, const struct msg_subject *s, const char *name, char *detail, size_t size,
	struct fw_err *err)
{
	char aside[160];
	int from = openat(c->cache->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), to, result;

	snprintf(aside, sizeof aside, "%.128s-kept", name);
	if (from < 0)
		return err_sys(err, "folder %s of the cache", name);
	to = workdir_fresh(c->cache->fd, aside, err);
	result = to < 0 ? -1 : keep_all(c, s, from, to, detail, size, err);
	close(from);
	if (to >= 0)
		close(to);
	if (result == 1 &&
		(workdir_remove(c->cache->fd, name, err) != 0 || renameat(c->cache->fd, aside, c->cache->fd, name) < 0))
		result = err_sys(err, "folder %s of the cache", name);
	if (result != 1)
		(void)workdir_remove(c->cache->fd, aside, NULL);
	return result;
}

static void add_text(struct hash_state *h, const char *text)
{
	hash_update(h, text, strlen(text) + 1);
}

void artifacts_name(const struct msg_subject *s, char hex[HASH_HEX])
{
	struct hash_state h;

	hash_begin(&h);
	add_text(&h, "flopwatch program 1");
	add_text(&h, hex);
	add_text(&h, s->build.dir);
	for (int i = 0; i < s->run.n_command; i++)
		add_text(&h, s->run.command[i]);
	add_text(&h, "");
	for (int i = 0; i < s->run.n_outputs; i++)
		add_text(&h, s->run.output[i]);
	add_text(&h, "");
	add_text(&h, s->run.reader);
	add_text(&h, s->run.unit);
	hash_end(&h, hex);
}
