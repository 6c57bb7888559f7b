/** range.h - where on the upstream branch a loss came, and what was asked for to find out. Loop only. */
#ifndef DB_FIND_RANGE_H
#define DB_FIND_RANGE_H

#include "db/store/change.h"
#include "db/store/baseline_period.h"

/** Commits after `from` up to `to`, and those among them without a point. */
int find_range_commits(struct db *db, const struct store_change *c, const char *from, const char *to, int *commits,
	int *unmeasured, struct fw_err *err);

/** Whether an open job measures this commit's cell against the reference commit. 1, 0, -1. */
int find_range_awaited(struct db *db, int64_t repo, const char *sha, const char *key, struct fw_err *err);
/** Place of the newest commit behind `after` that jobs of this origin asked about, for the baseline period's suite and device; 0 none. */
int find_range_asked(struct db *db, const struct store_baseline_period *e, const char *origin, int64_t after, int64_t *place,
	struct fw_err *err);

#endif
