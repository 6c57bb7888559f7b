/**
 * cache.h - files that a worker keeps between jobs: builds/<key>, modules/<sha256>.so, names/<sha256>.so (the same with symbols
 * and lines), checks/<key>, and work folders.
 *
 * Every file is written under a temporary name, synced and renamed, so a crash leaves a whole file or none. Locks separate
 * workers that share a cache: build slots, one lock for each source, one per device for measuring.
 */
#ifndef WORKER_SANDBOX_CACHE_H
#define WORKER_SANDBOX_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/hash.h"

struct cache {
	char dir[PATH_MAX];
	int fd; /* of dir; -1: closed */
	int builds_fd, modules_fd, names_fd, checks_fd;
};

/**
 * Open (and create) the cache. `dir` NULL: $CACHE_DIRECTORY, $XDG_CACHE_HOME/flopwatch, /var/cache/flopwatch-worker for root,
 * ~/.cache/flopwatch. Root refuses another user's cache unless `dir` names it. Err: names the unusable folder and its owner.
 * Own: cache_close.
 */
int cache_open(struct cache *c, const char *dir, struct fw_err *err);
void cache_close(struct cache *c);

/** Read an entry of builds_fd or checks_fd into `out`, and mark it as used. Returns 1 found, 0 missing or unreadable. */
int cache_get(int folder_fd, const char *name, struct buf *out);
int cache_put(int folder_fd, const char *name, const void *data, size_t len, struct fw_err *err);
void cache_forget(int folder_fd, const char *name);

/**
 * Store a copy of `fd` (from offset 0) as modules/<sha256>.so. Units: max_bytes. Err: ERR_FULL when it is larger. Shape:
 * sha256[65].
 */
int cache_put_module(const struct cache *c, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err);
/** Open a cached module and mark it as used; -1 if missing. Own: close. */
int cache_open_module(const struct cache *c, const char *sha256);
/** Store `fd` as the unstripped copy of module `sha256`, unless it is larger. Units: max_bytes. */
void cache_put_names(const struct cache *c, const char *sha256, int fd, int64_t max_bytes);
/** Open the unstripped copy; -1 if missing. Own: close. */
int cache_open_names(const struct cache *c, const char *sha256);

/** Try to take lock `name`. Returns its descriptor (close to release), or -1 with ERR_BUSY while another process holds it. */
int cache_lock(const struct cache *c, const char *name, struct fw_err *err);
/** Lock one of `n` build slots, each with its own folders. Returns as cache_lock. */
int cache_lock_position(const struct cache *c, int n, int *position, struct fw_err *err);
/**
 * Join the concurrent builds. `*alone`: there is no other, and none may start before cache_lock_share. Returns as cache_lock.
 */
int cache_lock_beside(const struct cache *c, bool *alone, struct fw_err *err);
int cache_lock_share(int fd, struct fw_err *err);
/** Remove the least recently used entries beyond `keep` per folder, and half-written files. Requires that no build runs. */
void cache_trim(const struct cache *c, int keep);

#endif
