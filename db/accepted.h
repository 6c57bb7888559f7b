/**
 * accepted.h - regressions that a user accepted, in every comparison whose target contains their commit.
 *
 * An accepted alert covers a cell of a comparison of two commits (not of toolchains or providers) if the target contains the
 * commit and the base does not (commit_range; a later push, a merge or a fast-forward of any branch), or if the comparison has
 * the alert's two commits. The commit is the culprit that a bisect found for the cell, else the alert's. A slowdown is covered up
 * to the accepted one plus the threshold and two standard errors. Loop only.
 */
#ifndef DB_ACCEPTED_H
#define DB_ACCEPTED_H

#include "verdict/verdict.h"
#include "db/db.h"

/** Add commits that `target` contains and `base` does not; stored ones stay. Shape: shas[n]. */
int store_range_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char (*shas)[65], int n, struct fw_err *err);
/** Whether any commit of the range is stored. 1, 0, -1. */
int store_range_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err);

/** Whether an accepted alert covers this cell, a stored regression of the comparison. 1, 0, -1. */
int store_accepted_cell(struct db *db, int64_t comparison, const char *key, struct fw_err *err);

/** The accepted alert that covers this cell in the newest comparison of this commit of the upstream branch `branch`; *alert 0: none. */
int store_accepted_step(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, const char *key,
	int64_t *alert, struct fw_err *err);

struct store_accepted {
	int covered, lost;    /* regressed cells that are covered, and that are not */
	enum verdict verdict; /* of the cells that are not covered; VERDICT_ACCEPTED where no worse one remains */
	int64_t alert;        /* the newest alert that covers a cell; 0 none */
	char who[128], why[256];
};
/** Of a comparison whose verdict is regression. */
int store_accepted_of(struct db *db, int64_t comparison, struct store_accepted *out, struct fw_err *err);

/**
 * Comparisons of branches, the newest of each commit and suite, in which this alert covers a regression, so that their status
 * changes. Oldest first. Shape: ids[max], the newest where there are more. Returns n, -1.
 */
int store_accepted_comparisons(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);
/** Open and acknowledged regression alerts of which `alert` covers every cell. Shape: ids[max]. Returns n, -1. */
int store_accepted_alerts(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);

#endif
