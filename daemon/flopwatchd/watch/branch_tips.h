/** branch_tips.h - comparison of a repository's branch tips with the stored ones; moved branches become jobs. */
#ifndef FLOPWATCHD_WATCH_BRANCH_TIPS_H
#define FLOPWATCHD_WATCH_BRANCH_TIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "flopwatchd/config/config.h"
#include "db/db.h"

struct branch_tips_result {
	int jobs, superseded, moved, gone;
	/* Branches, one a line, that keep an older stored tip: full queue, or unreadable tip. Own: the caller frees it. */
	struct buf held;
	/* A problem to show although the run succeeded: an unreadable branch, a full queue, no upstream branch; "": none. */
	char problem[1024];
};

/**
 * Compare the lines of `tips` (JSON, one a branch) with the stored tips of `repo` and write the difference: tips, jobs of
 * watched branches (the upstream branch first, and always at first sight), superseded and dropped jobs, events, log lines. A
 * branch whose job exceeds `queue_max` keeps its stored tip, so that the next check finds it again. Runs its own transaction.
 * Err: ERR_PROTOCOL lines are not the output of flopwatch-git; nothing is written.
 */
int branch_tips_apply(struct db *db, const struct config_repo *conf, int64_t repo, int queue_max, const struct buf *lines,
	int64_t now_ms, struct branch_tips_result *result, struct fw_err *err);

#endif
