/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_WATCH_INTERNAL_H
#define FLOPWATCHD_WATCH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/watch/watch.h"
#include "lib/lib.h"

/* ---- branch_tips: Comparison of a repository's branch tips with the stored ones; moved branches become jobs. ---- */

struct branch_tips_result {
	int jobs, superseded, moved, gone;
	bool again; /* check again: a request may be measured now whose commit is not fetched, or further branches moved */
	/* Branches, one a line, with an older stored tip: full queue, unreadable tip, or too many moved. Own: the caller frees it. */
	struct buf held;
	/* A problem to show although the run succeeded: an unreadable branch, a full queue, no upstream branch; "": none. */
	char problem[1024];
};

/**
 * Compare the lines of `tips` (JSON, one a branch) with the stored tips of `repo` and write the difference: tips, jobs of watched
 * branches (the upstream branch first, and always when it is new), superseded and dropped jobs, events, log lines. A branch whose
 * job exceeds `queue_max` retains its stored tip, so that the next check finds it again. A request, with a line of its own, has a tip
 * while its current head may be measured. Runs its own transaction. Err:
 * ERR_PROTOCOL the lines are not output of flopwatch-git; nothing is written.
 */
int branch_tips_apply(struct db *db, const struct config_repo *conf, int64_t repo, int queue_max, const struct buf *lines,
	int64_t now_ms, struct branch_tips_result *result, struct fw_err *err);

/*
 * ---- ref_watch ----
 * Change notification for a local repository's branches: inotify on refs/heads, packed-refs and HEAD. It reports that refs may
 * have changed, never which ones, and may report too often. A poll covers the cases that inotify cannot detect (network file
 * systems, exhausted watches).
 */

struct ref_watch;

/**
 * Start. `path` is a bare repository, a checkout or a linked worktree. Err: ERR_NOT_FOUND no repository, ERR_IO inotify fails.
 */
int ref_watch_start(
	struct loop *l, const char *path, void (*fn)(void *arg), void *arg, struct ref_watch **out, struct fw_err *err);
/** True if a watched folder was removed or could not be watched: the caller must start it again. */
bool ref_watch_is_lost(const struct ref_watch *n);
/** Accepts NULL. */
void ref_watch_stop(struct ref_watch *n);

#endif
