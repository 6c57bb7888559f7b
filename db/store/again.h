/** again.h - jobs that are asked again by themselves, each once. Loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_AGAIN_H
#define DB_STORE_AGAIN_H

#include "db/sqlite/db.h"

/** Cells of a comparison that nothing but noise left undecided. */
int store_again_noisy(struct db *db, int64_t comparison, int64_t *n, struct fw_err *err);
/** Have a job asked again at `at`, unless it asks another one again itself. *n: 1, or 0 it was once already. */
int store_again_note(struct db *db, int64_t job, int64_t at, int *n, struct fw_err *err);
/** A job whose time has come, or that ended in the future, since the clock was set back. 1, 0, -1. */
int store_again_due(struct db *db, int64_t now_ms, int64_t *job, struct fw_err *err);
/** A job that is to be asked again, whenever that is. 1, 0, -1. */
int store_again_any(struct db *db, int64_t *job, struct fw_err *err);
/**
 * Whether its answer is still wanted: the commit is the tip of its branch, the comparison is undecided, and no later job asks the same. 1,
 * 0, -1.
 */
int store_again_wanted(struct db *db, int64_t job, struct fw_err *err);
/** That is settled: by job `by`, or, 0, because nobody wants it any more. */
int store_again_settle(struct db *db, int64_t job, int64_t by, struct fw_err *err);

#endif
