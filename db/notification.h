/**
 * notification.h - content of statuses and git notes: jobs that ended together, a comparison's summary, the newest of each suite.
 * Loop only.
 */
#ifndef DB_NOTIFICATION_H
#define DB_NOTIFICATION_H

#include "model/jobkind.h"
#include "model/jobstate.h"
#include "verdict/verdict.h"
#include "db/db.h"

/** A job that ended in the transaction of another job. */
struct find_notification_job {
	int64_t id, repo;
	char repo_name[128], sha[65], suite[64], why[512];
	enum jobstate state;
};
/** Jobs of branches that count and ended at `ended_at` without a verdict, newest first. `repo_name` "": any. Shape: out[max]. */
int find_notification_ended(struct db *db, int64_t ended_at, const char *repo_name, struct find_notification_job *out, int max,
	int *n, struct fw_err *err);

/** Cells with one verdict: the number of all cells and of these, and the worst of these, the best of improvements. */
struct find_notification_cells {
	int64_t all, n;
	double decided_pct;
	char key[160], reason[512];
};
/** 1, 0 no cell has this verdict, -1. */
int find_notification_cells(
	struct db *db, int64_t comparison, enum verdict verdict, struct find_notification_cells *out, struct fw_err *err);

struct find_notification_suite {
	int64_t comparison;
	char suite[64], base_sha[65];
	enum verdict verdict;
	enum jobkind kind;
};
/** The newest whole comparison of a commit with each suite, by name. Shape: out[max]. */
int find_notification_suites(
	struct db *db, int64_t repo, const char *sha, struct find_notification_suite *out, int max, int *n, struct fw_err *err);

struct find_notification_cell {
	const char *key, *failure;
	enum verdict verdict;
	enum decider decided_by;
	double change_pct, ci_low_pct, ci_high_pct, decided_pct;
	double slow_share[2], slow_longer; /* as in struct view_cell */
};
typedef void find_notification_cell_fn(void *arg, const struct find_notification_cell *cell);
/** The first `max` cells of a comparison that are not unchanged, identical or unsupported, in order. */
int find_notification_each(
	struct db *db, int64_t comparison, int max, find_notification_cell_fn *each, void *arg, struct fw_err *err);

#endif
