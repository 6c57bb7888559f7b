/** trees.h - sources of a job's sides: requested if a build needs them, and stored as archives until it is done. */
#ifndef WORKER_TREES_H
#define WORKER_TREES_H

#include "worker/sandbox/peer.h"
#include "worker/sandbox/build.h"

/**
 * Request each input that no cached build replaces, once, and wait for it. `*folder` holds the archives, -1 if none was
 * requested. Err: the daemon is gone, or sends another message; a tree is too large. Own: close `*folder`, also on -1.
 */
int trees_fetch(struct peer *peer, const struct cache *cache, const struct build_context *c, const struct msg_job *request,
	int *folder, struct fw_err *err);
/** Open the archive of `oid` (a build_tree_fn); `arg` points to the folder's descriptor. Own: close. Err: not received. */
int trees_open(void *arg, const char *oid, struct fw_err *err);

#endif
