/** trees.h - the sources of a job's sides: asked for where they are to be built, and kept as archives until that is done. */
#ifndef WORKER_TREES_H
#define WORKER_TREES_H

#include "worker/box/peer.h"
#include "worker/build/build.h"

/**
 * Ask for what no build of the cache stands for, once each, and wait for it. `*folder` is that of the archives, -1 where nothing was asked
 * for. Err: the daemon is gone, or sends something else; a tree is too large. Own: close `*folder`, also on -1.
 */
int trees_fetch(struct peer *peer, const struct cache *cache, const struct build_context *c, const struct msg_job *ask,
	int *folder, struct fw_err *err);
/** The archive of `oid`, as build_tree_fn; `arg` points to the folder's descriptor. Own: close. Err: it did not come. */
int trees_open(void *arg, const char *oid, struct fw_err *err);

#endif
