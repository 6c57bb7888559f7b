/**
 * again.h - what only the noise of runs left undecided is asked again once, by itself, in another hour. Inside the caller's
 * transaction; loop only.
 */
#ifndef FLOPWATCHD_VERDICT_AGAIN_H
#define FLOPWATCHD_VERDICT_AGAIN_H

#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "db/store/result.h"

/** After a verdict on a whole change: note when it is to be asked again, if it is. */
int again_note(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

/** Queue what is due and still wanted, after all that waits for a first answer; where the pause is 0, forget what was noted. The count, -1. */
int again_ask(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
