/**
 * workdir.h - the work folder of a build: created empty, removed whole, whatever the build left in it.
 *
 * Removal uses descriptors, never follows a link, makes unreadable folders readable first, and handles trees of any depth.
 */
#ifndef WORKER_SANDBOX_WORKDIR_H
#define WORKER_SANDBOX_WORKDIR_H

#include "lib/err.h"
#include "worker/sandbox/room.h"

/** Remove `name` below the folder `parent_fd` with all contents. A missing folder is no error. */
int workdir_remove(int parent_fd, const char *name, struct fw_err *err);
/** Remove `name` and create it again (mode 0700). Returns a descriptor of it, -1 on failure. Own: close. */
int workdir_fresh(int parent_fd, const char *name, struct fw_err *err);
/** Return the disk usage below `name`, as far as it can be read. */
struct room_usage workdir_usage(int parent_fd, const char *name);
/**
 * Compute SHA-256 over names, kinds (including executable bits) and contents of all entries below the folder `fd`, in a fixed
 * order. Links are hashed, not followed; programs hash as in loadable.h.
 */
int workdir_hash(int fd, char sha256[65], struct fw_err *err);
/** Compute the same over files that were not unpacked, or were written since; "" without such a file. */
int workdir_hash_made(int fd, char sha256[65], struct fw_err *err);
/** Give a tree that only the worker has written so far to another user, with read and enter permissions (needs root). */
int workdir_give(const char *path, unsigned uid, struct fw_err *err);

#endif
