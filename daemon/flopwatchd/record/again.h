/**
 * again.h - retries: a comparison that only noise between runs left undecided is queued once more, in another hour. Inside the
 * caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_RECORD_AGAIN_H
#define FLOPWATCHD_RECORD_AGAIN_H

#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "db/result.h"

/** After a verdict on a whole change: store the time of its retry, if it gets one. */
int again_note(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

/** Queue due retries below jobs that wait for a first result; with a delay of 0 drop all. Returns the number, -1. */
int again_request(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
