/**
 * ref_watch.h - change notification for a local repository's branches: inotify on refs/heads, packed-refs and HEAD. It reports
 * that refs may have changed, never which, and may report too often; a poll covers cases that inotify cannot see (network file
 * systems, exhausted watches).
 */
#ifndef FLOPWATCHD_WATCH_REF_WATCH_H
#define FLOPWATCHD_WATCH_REF_WATCH_H

#include <stdbool.h>

#include "lib/err.h"
#include "lib/loop.h"

struct ref_watch;

/**
 * Start. `path` is a bare repository, a checkout or a linked worktree. Err: ERR_NOT_FOUND no repository, ERR_IO inotify fails.
 */
int ref_watch_start(
	struct loop *l, const char *path, void (*fn)(void *arg), void *arg, struct ref_watch **out, struct fw_err *err);
/** True if a watched folder was removed or could not be watched: start it again. */
bool ref_watch_is_lost(const struct ref_watch *n);
/** Accepts NULL. */
void ref_watch_stop(struct ref_watch *n);

#endif
