/** branch_tips.h - what flopwatch-git says the branches are, against what is stored: moved branches become jobs, in one transaction. */
#ifndef FLOPWATCHD_INTAKE_BRANCH_TIPS_H
#define FLOPWATCHD_INTAKE_BRANCH_TIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "flopwatchd/runtime/config.h"
#include "db/sqlite/db.h"

struct branch_tips_result {
	int jobs, superseded, moved, gone;
	/* Names, one a line, of branches that keep an older tip: the queue is full, or git cannot read the new one. The caller frees it. */
	struct buf held;
	/* What a person should know although the rest went well: a branch that cannot be read, a full queue, no upstream branch; "" nothing. */
	char problem[1024];
};

/**
 * Compare the lines of `tips` (JSON, one a branch) with the stored tips of `repo` and write the difference: tips, jobs of watched
 * branches (the upstream branch first, and at first sight always), superseded and gone jobs, events, log lines.
 * A branch whose job finds the queue full (`queue_max`) keeps its stored tip, so that the next look finds it again.
 * Own: opens and commits its own transaction. Err: ERR_PROTOCOL for lines that are not what flopwatch-git prints; nothing is written.
 */
int branch_tips_apply(struct db *db, const struct config_repo *conf, int64_t repo, int queue_max, const struct buf *lines,
	int64_t now_ms, struct branch_tips_result *result, struct fw_err *err);

#endif
