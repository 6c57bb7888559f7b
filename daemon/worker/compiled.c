/* compiled.c - compiler caches of benchmark programs, from earlier jobs with the same commit and side. */
#include "worker/internal.h"

#include <dirent.h>

enum { COMPILED_MAX = 64, FILES_MAX = 50000 };

static const int64_t cache_max_bytes = 256LL << 20;

/* In `.flopwatch` of the program's folder. Inductor's cache is left out, since its code contains measured choices. */
static const char *const caches[] = { "triton", "cuda", "python" };
enum { CACHES = sizeof caches / sizeof caches[0] };

/* Triton's file with a measured choice between configurations. */
static const char choice[] = ".autotune.json";

/*
 * Base and target have different keys, also of the same commit. Without a sandbox the folder's path, which the caches contain,
 * differs between jobs.
 */
static bool make_key(const struct build_context *c, const struct msg_side *s, char key[HASH_HEX])
{
	struct hash_state h;

	if (!c->sandbox->active || !s->commit[0])
		return false;
	build_key(c, s, key);
	hash_begin(&h);
	hash_text(&h, key);
	hash_text(&h, s->commit);
	hash_text(&h, s->benchmark.name);
	hash_text(&h, role_name(s->role));
	hash_end(&h, key);
	return true;
}

static int open_store(const struct build_context *c)
{
	(void)mkdirat(c->cache->fd, "compiled", 0700);
	return openat(c->cache->fd, "compiled", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Open `.flopwatch` in the folder in which a program runs; `make`: with the folder's owner, if it is missing. Own: close; -1. */
static int open_own(const struct build_context *c, const struct msg_side *s, bool make)
{
	static const char name[] = ".flopwatch";
	char side[128];
	struct stat st;
	int root, folder, own;

	build_program_folder(c, s, side);
	root = openat(c->cache->fd, side, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	folder = root < 0 ? -1 : beneath_open(root, s->build.dir, O_RDONLY | O_DIRECTORY);
	if (folder >= 0 && make && mkdirat(folder, name, 0755) == 0 && fstat(folder, &st) == 0 &&
		fchownat(folder, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
		(void)unlinkat(folder, name, AT_REMOVEDIR); /* the program could not write there */
	own = folder < 0 ? -1 : beneath_open(folder, name, O_RDONLY | O_DIRECTORY);
	fd_close(&root);
	fd_close(&folder);
	return own;
}

void compiled_take(const struct build_context *c, const struct msg_side *s)
{
	char key[HASH_HEX];
	int store = make_key(c, s, key) ? open_store(c) : -1;
	int from = store < 0 ? -1 : openat(store, key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int own = from < 0 ? -1 : open_own(c, s, true);

	for (int i = 0; i < CACHES && own >= 0; i++)
		(void)renameat(from, caches[i], own, caches[i]); /* on failure the program compiles again */
	if (own >= 0)
		(void)workdir_remove(store, key, NULL);
	fd_close(&own);
	fd_close(&from);
	fd_close(&store);
}

static void drop_choices_of(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		fd_close(&fd);
	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), end = sizeof choice - 1;

		if (len > end && strcmp(entry->d_name + len - end, choice) == 0)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* A choice made by chance would otherwise favour a side in every later job, also in one that verifies a regression. */
static void drop_choices(int own, const char *name)
{
	int fd = openat(own, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		fd_close(&fd);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			drop_choices_of(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

void compiled_store(const struct build_context *c, const struct msg_side *s)
{
	char key[HASH_HEX];
	int store = make_key(c, s, key) ? open_store(c) : -1, own = store < 0 ? -1 : open_own(c, s, false);
	struct disk_space now;

	if (own >= 0 && disk_space_read(c->cache->fd, &now) && !disk_space_is_low(&now) && mkdirat(store, key, 0700) == 0) {
		int to = openat(store, key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		for (int i = 0; i < CACHES && to >= 0; i++) {
			struct disk_usage usage = workdir_usage(own, caches[i]);

			drop_choices(own, caches[i]);
			/* the program writes the cache, so its size is checked before the cache outlives the job */
			if (usage.files > 0 && usage.files <= FILES_MAX && usage.bytes <= cache_max_bytes && !usage.is_partial &&
				!usage.has_links)
				(void)renameat(own, caches[i], to, caches[i]);
		}
		fd_close(&to);
		(void)unlinkat(store, key, AT_REMOVEDIR); /* the next job starts without a cache */
		cache_trim_folder(store, COMPILED_MAX);
	}
	fd_close(&own);
	fd_close(&store);
}
