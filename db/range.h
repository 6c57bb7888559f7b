/** range.h - range of commits in which a slowdown came, and the jobs that narrow it. Loop only. */
#ifndef DB_RANGE_H
#define DB_RANGE_H

#include "db/change.h"
#include "db/baseline_period.h"

/** Count the commits after `from` up to `to`, and those among them without a point. */
int find_range_commits(struct db *db, const struct store_change *c, const char *from, const char *to, int *commits,
	int *unmeasured, struct fw_err *err);

/** Whether an open job measures this commit's cell against the reference commit. 1, 0, -1. */
int find_range_awaited(struct db *db, int64_t repo, const char *sha, const char *key, struct fw_err *err);
/** Position of the newest commit after `after` with a job of this origin, for the baseline period's suite and class; 0 none. */
int find_range_requested(struct db *db, const struct store_baseline_period *e, const char *origin, int64_t after,
	int64_t *position, struct fw_err *err);

#endif
