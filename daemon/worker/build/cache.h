/**
 * cache.h - what a worker keeps between jobs: builds/<key>, modules/<sha256>.so, names/<sha256>.so (the same with names and lines),
 * checks/<key>, and the folder a job works in.
 *
 * Every file is written beside its place, synced and renamed, so that a crash leaves a whole file or none. Locks keep workers that
 * share a cache apart: places to build in, one for each source, one per device for measuring.
 */
#ifndef WORKER_BUILD_CACHE_H
#define WORKER_BUILD_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

struct cache {
	char dir[PATH_MAX];
	int fd; /* of dir; -1: closed */
	int builds_fd, modules_fd, names_fd, checks_fd;
};

/**
 * Open (and make) the cache. `dir` NULL: $CACHE_DIRECTORY, $XDG_CACHE_HOME/flopwatch, /var/cache/flopwatch-worker for root,
 * ~/.cache/flopwatch. Root takes none of another user's unless `dir` names it. Err: says which folder cannot be used, and whose it is.
 * Own: cache_close.
 */
int cache_open(struct cache *c, const char *dir, struct fw_err *err);
void cache_close(struct cache *c);

/** Read an entry of builds_fd or checks_fd into `out`, and note that it was used. 1 found, 0 not there (or unreadable). */
int cache_get(int folder_fd, const char *name, struct buf *out);
int cache_put(int folder_fd, const char *name, const void *data, size_t len, struct fw_err *err);
void cache_forget(int folder_fd, const char *name);

/** Keep a copy of `fd` (from offset 0) as modules/<sha256>.so. Units: max_bytes. Err: ERR_FULL when it is larger. Shape: sha256[65]. */
int cache_put_module(const struct cache *c, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err);
/** Descriptor of a kept module, -1 when there is none; notes that it was used. Own: close. */
int cache_open_module(const struct cache *c, const char *sha256);
/** Keep `fd` beside module `sha256`, of which it has the names and lines. Not kept when it is larger. Units: max_bytes. */
void cache_put_names(const struct cache *c, const char *sha256, int fd, int64_t max_bytes);
/** Descriptor of that, -1 when there is none. Own: close. */
int cache_open_names(const struct cache *c, const char *sha256);

/** Try to take lock `name`. Returns its descriptor (close to release) or -1 with ERR_BUSY while somebody else has it. */
int cache_lock(const struct cache *c, const char *name, struct fw_err *err);
/** One of `n` places for a build, in which it has folders of its own. As cache_lock. */
int cache_lock_place(const struct cache *c, int n, int *place, struct fw_err *err);
/** Stand beside the other builds. `*alone`: there is none, and none may begin until cache_lock_share. As cache_lock. */
int cache_lock_beside(const struct cache *c, bool *alone, struct fw_err *err);
int cache_lock_share(int fd, struct fw_err *err);
/** Drop the longest unused entries beyond `keep` in each folder, and what a crash left half written. Call while no other build runs. */
void cache_trim(const struct cache *c, int keep);

#endif
