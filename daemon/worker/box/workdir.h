/**
 * workdir.h - the folder a build works in: made fresh, removed whole, whatever the build left in it.
 *
 * Removal goes by descriptors and never follows a link, makes unreadable folders readable first, and takes trees of any depth.
 */
#ifndef WORKER_BOX_WORKDIR_H
#define WORKER_BOX_WORKDIR_H

#include "base/err.h"
#include "worker/box/room.h"

/** Remove `name` below the folder `parent_fd`, with everything in it. Absent is fine. */
int workdir_remove(int parent_fd, const char *name, struct fw_err *err);
/** Remove, then make it anew (mode 0700). Returns a descriptor of it, -1 on failure. Own: close. */
int workdir_fresh(int parent_fd, const char *name, struct fw_err *err);
/** What everything below `name` takes of the disk, as far as it can be read. */
struct room_usage workdir_usage(int parent_fd, const char *name);
/** SHA-256 over names, kinds (which files may run among them) and contents of everything below the folder `fd`, in an order of their own. Links are hashed, not followed;
 * of programs counts what loadable.h says. */
int workdir_hash(int fd, char sha256[65], struct fw_err *err);
/** The same over what was not unpacked, or was written since; "" without such a file. */
int workdir_hash_made(int fd, char sha256[65], struct fw_err *err);
/** Give a tree that only we have written so far to another user, who then may read and enter it (needs root). */
int workdir_give(const char *path, unsigned uid, struct fw_err *err);

#endif
