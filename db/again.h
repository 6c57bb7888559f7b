/** again.h - automatic retries of jobs, one a job. Loop only; writes inside the caller's transaction. */
#ifndef DB_AGAIN_H
#define DB_AGAIN_H

#include "db/db.h"

/** Count the cells of a comparison that are undecided because of noise alone. */
int store_again_noisy(struct db *db, int64_t comparison, int64_t *n, struct fw_err *err);
/** Schedule a retry of a job at `at`, unless it is a retry itself. *n: 1, or 0 it is one. */
int store_again_note(struct db *db, int64_t job, int64_t at, int *n, struct fw_err *err);
/** A job whose retry is due, or that ended in the future because the clock was set back. 1, 0, -1. */
int store_again_due(struct db *db, int64_t now_ms, int64_t *job, struct fw_err *err);
/** The job with the earliest scheduled retry, due or not. 1, 0, -1. */
int store_again_any(struct db *db, int64_t *job, struct fw_err *err);
/**
 * Whether the retry is still useful: the commit is the tip of its branch, the comparison is undecided, and no later job measures
 * the same. 1, 0, -1.
 */
int store_again_wanted(struct db *db, int64_t job, struct fw_err *err);
/** Clear a scheduled retry: job `by` is the retry; 0: it is not needed any more. */
int store_again_settle(struct db *db, int64_t job, int64_t by, struct fw_err *err);

#endif
