/**
 * accepted.h - losses that a person has accepted, followed to every comparison that holds the commit which lost.
 *
 * An accepted alert covers a cell of a change's comparison (not of two toolchains or providers) that is known to hold the commit in its
 * target and not in its base (commit_range: by a later push, a merge or a fast-forward, on whichever branch), or that has the alert's own
 * two commits. The commit is the one that a search has named for the cell, else the alert's. What is covered is the loss that was accepted,
 * and beyond it the threshold and two standard errors. Loop only.
 */
#ifndef DB_STORE_ACCEPTED_H
#define DB_STORE_ACCEPTED_H

#include "core/verdict/verdict.h"
#include "db/sqlite/db.h"

/** Commits of `target` that `base` does not hold. What is known stays. Shape: shas[n]. */
int store_range_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char (*shas)[65], int n, struct fw_err *err);
/** Whether anything is known of the range. 1, 0, -1. */
int store_range_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err);

/** Whether a cell that is stored as a regression of this comparison is covered. 1, 0, -1. */
int store_accepted_cell(struct db *db, int64_t comparison, const char *key, struct fw_err *err);

/** The accepted alert that covers this cell at this commit of the upstream branch `branch`, by its newest comparison; *alert 0: none does. */
int store_accepted_step(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, const char *key,
	int64_t *alert, struct fw_err *err);

struct store_accepted {
	int covered, lost;    /* cells that are covered; that regressed and are not */
	enum verdict verdict; /* without what is covered; VERDICT_ACCEPTED where nothing worse is left */
	int64_t alert;        /* the newest that covers one; 0 none */
	char who[128], why[256];
};
/** Of a comparison whose verdict is regression. */
int store_accepted_of(struct db *db, int64_t comparison, struct store_accepted *out, struct fw_err *err);

/**
 * Comparisons of branches' commits, the newest of each commit and suite, in which this alert covers a loss: what is said of them is another
 * word now. Oldest first. Shape: ids[max], the newest where there are more. Returns n, -1.
 */
int store_accepted_comparisons(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);
/** Open and acknowledged alerts of regressions of which `alert` covers every cell. Shape: ids[max]. Returns n, -1. */
int store_accepted_alerts(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);

#endif
