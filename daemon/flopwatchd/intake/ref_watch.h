/**
 * ref_watch.h - tells when the branches of a local repository may have changed, by inotify on refs/heads, packed-refs and HEAD.
 *
 * It says "look", never what changed, and may say it too often; a poll behind it covers what it cannot see (network file systems,
 * exhausted watches).
 */
#ifndef FLOPWATCHD_INTAKE_REF_WATCH_H
#define FLOPWATCHD_INTAKE_REF_WATCH_H

#include <stdbool.h>

#include "base/err.h"
#include "flopwatchd/runtime/loop.h"

struct ref_watch;

/** Begin. `path` is a bare repository, a checkout or a linked worktree. Err: ERR_NOT_FOUND no repository, ERR_IO inotify refuses. */
int ref_watch_start(
	struct loop *l, const char *path, void (*fn)(void *arg), void *arg, struct ref_watch **out, struct fw_err *err);
/** Whether something it watched has been removed or could not be watched: start anew. */
bool ref_watch_is_lost(const struct ref_watch *n);
/** Accepts NULL. */
void ref_watch_stop(struct ref_watch *n);

#endif
