/* cache.c - folders of immutable files. Every file can be made again, so an unreadable one is treated as missing. */
#include "worker/sandbox/sandbox.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/file.h>

static int default_dir(char *dir, size_t size, struct fw_err *err)
{
	const char *service = getenv("CACHE_DIRECTORY"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (service && service[0] == '/')
		n = snprintf(dir, size, "%.*s", (int)strcspn(service, ":"), service);
	else if (xdg && xdg[0] == '/')
		n = snprintf(dir, size, "%s/flopwatch", xdg);
	else if (geteuid() == 0)
		n = snprintf(dir, size, "/var/cache/flopwatch-worker");
	else if (home && home[0] == '/')
		n = snprintf(dir, size, "%s/.cache/flopwatch", home);
	else
		return err_set(err, ERR_INVALID, "no folder for the cache: give --cache DIR");
	return n > 0 && (size_t)n < size ? 0 : err_set(err, ERR_INVALID, "the cache's path is too long");
}

static int make_parents(char *path)
{
	char *p;

	for (p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST) {
			*p = '/';
			return -1;
		}
		*p = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

/* Write the name of a user, "flopwatch-run", or "user 1000" if there is none. Returns `out`. Shape: out[64]. */
static const char *user_name(uid_t uid, char *out)
{
	const struct passwd *p = getpwuid(uid);

	if (p)
		snprintf(out, 64, "%s", p->pw_name);
	else
		snprintf(out, 64, "user %lu", (unsigned long)uid);
	return out;
}

/* Set the error of an unusable cache folder from errno; name its owner if that is another user. Returns -1. */
static int set_cache_error(const struct cache *c, const char *name, struct fw_err *err)
{
	char path[sizeof c->dir + 16], owner[64], own[64];
	struct stat st;
	int why = errno;

	snprintf(path, sizeof path, "%s%s%s", c->dir, *name ? "/" : "", name);
	if (why == EACCES && lstat(path, &st) == 0 && st.st_uid != geteuid())
		return err_set(err, ERR_INVALID, "cache %s belongs to %s, and the worker runs as %s: chown it, or remove it",
			path, user_name(st.st_uid, owner), user_name(geteuid(), own));
	errno = why;
	return err_sys(err, "cache %s", path);
}

static int open_folder(const struct cache *c, const char *name, struct fw_err *err)
{
	int fd;

	if (mkdirat(c->fd, name, 0700) < 0 && errno != EEXIST)
		return set_cache_error(c, "", err);
	fd = openat(c->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? set_cache_error(c, name, err) : fd;
}

/*
 * If the worker is root, reject another user's cache unless the caller named it: its owner could not read the files that root
 * writes, so a worker of that user would not start again.
 */
static int check_owner(const struct cache *c, bool is_named, struct fw_err *err)
{
	char owner[64];
	struct stat st;

	if (geteuid() != 0)
		return 0;
	if (fstat(c->fd, &st) != 0)
		return err_sys(err, "cache %s", c->dir);
	if (st.st_uid == 0)
		return 0;
	user_name(st.st_uid, owner);
	if (!is_named)
		return err_set(err, ERR_INVALID,
			"cache %s belongs to %s, who could not read files that root writes into it: run the worker as %s, or give --cache DIR",
			c->dir, owner, owner);
	log_warning("cache.owner", "dir=%s owner=%s", log_quote(c->dir), log_quote(owner));
	return 0;
}

int cache_open(struct cache *c, const char *dir, struct fw_err *err)
{
	char text[sizeof c->dir];

	*c = (struct cache){ .fd = -1, .builds_fd = -1, .modules_fd = -1, .names_fd = -1, .checks_fd = -1 };
	if (!dir && default_dir(text, sizeof text, err) != 0)
		return -1;
	if (dir && (size_t)snprintf(text, sizeof text, "%s", dir) >= sizeof text)
		return err_set(err, ERR_INVALID, "the cache's path is too long");
	if (!*text || make_parents(text) != 0)
		return err_sys(err, "cache %s cannot be made; give --cache DIR", text);
	if (!realpath(text, c->dir)) /* the sandbox needs an absolute path */
		return err_sys(err, "cache %s", text);
	c->fd = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0)
		return set_cache_error(c, "", err);
	if (check_owner(c, dir != NULL, err) != 0) {
		cache_close(c);
		return -1;
	}
	c->builds_fd = open_folder(c, "builds", err);
	c->modules_fd = c->builds_fd < 0 ? -1 : open_folder(c, "modules", err);
	c->names_fd = c->modules_fd < 0 ? -1 : open_folder(c, "names", err);
	c->checks_fd = c->names_fd < 0 ? -1 : open_folder(c, "checks", err);
	if (c->checks_fd < 0)
		cache_close(c);
	return c->fd < 0 ? -1 : 0;
}

void cache_close(struct cache *c)
{
	fd_close(&c->builds_fd);
	fd_close(&c->modules_fd);
	fd_close(&c->names_fd);
	fd_close(&c->checks_fd);
	fd_close(&c->fd);
}

int cache_get(int folder_fd, const char *name, struct buf *out)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int result;

	if (fd < 0)
		return 0;
	result = buf_read_fd(out, fd);
	futimens(fd, NULL);
	close(fd);
	return result == 0 && !out->failed;
}

/* Create a temporary file. Its name begins with a dot, so that cache_trim removes it if it is left after a crash. */
static int begin_file(int folder_fd, char tmp[64], struct fw_err *err)
{
	static unsigned counter;
	int fd;

	snprintf(tmp, 64, ".%ld-%u.tmp", (long)getpid(), counter++);
	fd = openat(folder_fd, tmp, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(err, "cache: write") : fd;
}

/* Sync and rename the file, or remove it if not `good`. Own: closes `fd`. */
static int finish_file(int folder_fd, int fd, const char *tmp, const char *name, bool good, struct fw_err *err)
{
	int result = good ? 0 : -1;

	if (good && (fsync(fd) < 0 || renameat(folder_fd, tmp, folder_fd, name) < 0 || fsync(folder_fd) < 0))
		result = err_sys(err, "cache: write %.20s...", name);
	close(fd);
	if (result != 0)
		unlinkat(folder_fd, tmp, 0);
	return result;
}

int cache_put(int folder_fd, const char *name, const void *data, size_t len, struct fw_err *err)
{
	char tmp[64];
	int fd = begin_file(folder_fd, tmp, err);
	bool good;

	if (fd < 0)
		return -1;
	good = fd_write(fd, data, len) == 0;
	if (!good)
		err_sys(err, "cache: write");
	return finish_file(folder_fd, fd, tmp, name, good, err);
}

void cache_forget(int folder_fd, const char *name)
{
	unlinkat(folder_fd, name, 0);
}

/* Returns 1 if copied, 0 if larger than max_bytes, -1 on error. */
static int copy_file(int out, int fd, int64_t max_bytes, struct hash_state *hash, struct fw_err *err)
{
	char *chunk = mem_alloc(1 << 16);
	int64_t offset = 0;
	int result = 1;

	while (result == 1) {
		ssize_t n = pread(fd, chunk, 1 << 16, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			break;
		if (n < 0)
			result = err_sys(err, "read the module");
		else if ((offset += n) > max_bytes)
			result = 0;
		else if (fd_write(out, chunk, (size_t)n) != 0)
			result = err_sys(err, "cache: write a module");
		else
			hash_update(hash, chunk, (size_t)n);
	}
	free(chunk);
	return result;
}

/* Store a copy of `fd` as <name>.so; NULL: <sha256>.so. */
static int put_copy(int folder_fd, const char *name, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err)
{
	char tmp[64], file[80];
	int out = begin_file(folder_fd, tmp, err);
	struct hash_state hash;

	if (out < 0)
		return -1;
	hash_begin(&hash);
	int result = copy_file(out, fd, max_bytes, &hash, err);
	if (result == 0)
		err_set(err, ERR_INVALID, "larger than %lld MiB", (long long)(max_bytes >> 20));
	hash_end(&hash, sha256);
	snprintf(file, sizeof file, "%.64s.so", name ? name : sha256);
	return finish_file(folder_fd, out, tmp, file, result == 1, err);
}

int cache_put_module(const struct cache *c, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err)
{
	return put_copy(c->modules_fd, NULL, fd, max_bytes, sha256, err);
}

static int open_cached(int folder_fd, const char *sha256)
{
	char name[80];
	int fd;

	snprintf(name, sizeof name, "%.64s.so", sha256);
	fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		futimens(fd, NULL);
	return fd;
}

int cache_open_module(const struct cache *c, const char *sha256)
{
	return open_cached(c->modules_fd, sha256);
}

void cache_put_names(const struct cache *c, const char *sha256, int fd, int64_t max_bytes)
{
	char unused[HASH_HEX];
	struct fw_err err = { 0 };

	put_copy(c->names_fd, sha256, fd, max_bytes, unused, &err);
}

int cache_open_names(const struct cache *c, const char *sha256)
{
	return open_cached(c->names_fd, sha256);
}

static int lock(const struct cache *c, const char *name, int how, struct fw_err *err)
{
	char file[128];
	int fd;

	snprintf(file, sizeof file, "lock-%.100s", name);
	fd = openat(c->fd, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "cache %s: %s", c->dir, file);
	if (flock(fd, how | LOCK_NB) == 0)
		return fd;
	if (errno == EWOULDBLOCK)
		err_set(err, ERR_BUSY, "another worker holds %s/%s", c->dir, file);
	else
		err_sys(err, "cache %s: %s", c->dir, file);
	close(fd);
	return -1;
}

int cache_lock(const struct cache *c, const char *name, struct fw_err *err)
{
	return lock(c, name, LOCK_EX, err);
}

int cache_lock_slot(const struct cache *c, int n, int *slot, struct fw_err *err)
{
	for (*slot = 0; *slot < n; ++*slot) {
		struct fw_err why = { 0 };
		char name[32] = "build";

		if (*slot > 0)
			snprintf(name, sizeof name, "build-%d", *slot);
		int fd = lock(c, name, LOCK_EX, &why);

		if (fd >= 0)
			return fd;
		if (why.code != ERR_BUSY || *slot == n - 1)
			return err_set(err, why.code, "%s", why.text);
	}
	return err_set(err, ERR_BUSY, "no build may run in %s", c->dir);
}

int cache_lock_concurrent(const struct cache *c, bool *alone, struct fw_err *err)
{
	struct fw_err busy = { 0 };
	int fd = lock(c, "builders", LOCK_EX, &busy);

	*alone = fd >= 0;
	return fd >= 0 ? fd : lock(c, "builders", LOCK_SH, err);
}

int cache_lock_share(int fd, struct fw_err *err)
{
	return flock(fd, LOCK_SH) == 0 ? 0 : err_sys(err, "release the lock of concurrent builds");
}

struct aged {
	char name[80];
	struct timespec used;
};

static int newest_first(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
	return (x->used.tv_nsec < y->used.tv_nsec) - (x->used.tv_nsec > y->used.tv_nsec);
}

void cache_trim_folder(int folder_fd, int keep)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0, capacity = 0, i;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct aged *list = NULL;
	struct dirent *entry;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct stat st;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof list->name) {
			unlinkat(folder_fd, entry->d_name, 0); /* fails for folders, such as "." and ".." */
			continue;
		}
		if (fstatat(folder_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			list = mem_grow(list, (size_t)capacity, sizeof *list);
		}
		snprintf(list[n].name, sizeof list[n].name, "%.79s", entry->d_name);
		list[n++].used = st.st_mtim;
	}
	closedir(dir);
	if (n > keep && list)
		qsort(list, (size_t)n, sizeof *list, newest_first);
	for (i = keep; i < n; i++)
		(void)workdir_remove(folder_fd, list[i].name, NULL);
	free(list);
}

void cache_trim(const struct cache *c, int keep)
{
	cache_trim_folder(c->builds_fd, keep);
	cache_trim_folder(c->modules_fd, keep);
	cache_trim_folder(c->names_fd, keep);
	cache_trim_folder(c->checks_fd, 40 * keep); /* a module has a file for each cell */
}
