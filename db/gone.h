/**
 * gone.h - missing measurements of a branch: rows, cells, suites or a whole plan that an earlier commit had; and alerts about them that are
 * over. Loop only.
 */
#ifndef DB_GONE_H
#define DB_GONE_H

#include "db/job.h"
#include "db/result.h"

typedef void find_gone_fn(void *arg, const char *key, int64_t comparison);

/**
 * Rows that the base's benchmark program writes and the target's does not, in the order of the comparison. Skips rows that the branch's
 * previous comparison reported, since an open base stays the base of later commits.
 */
int find_gone_removed(struct db *db, const struct store_comparison *c, find_gone_fn *each, void *arg, struct fw_err *err);
/**
 * Cells of the branch's last whole comparison before `c` that `c` lacks, without those that it reported as removed. Comparisons
 * with unknown rows (identical, not built, ended early) are skipped, here and below.
 */
int find_gone_vanished(struct db *db, const struct store_comparison *c, find_gone_fn *each, void *arg, struct fw_err *err);
/** Cells of the branch's last comparison with this suite before the commit of `job`. */
int find_gone_suite(
	struct db *db, const struct store_job *job, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);

/** The branch's previous whole comparison with a suite of the same name. */
struct find_gone_last {
	int64_t comparison, suite; /* 0: there is none */
	int parts, parts_now;      /* shards of its suite, and of the current suite; less than 2: not sharded */
};
/** Before `c`, whose suite is the current one. */
int find_gone_last(struct db *db, const struct store_comparison *c, struct find_gone_last *out, struct fw_err *err);
/** With that suite, before the commit of `job`; parts_now is not set. */
int find_gone_last_of(
	struct db *db, const struct store_job *job, const char *suite, struct find_gone_last *out, struct fw_err *err);
/** Append a suite's file to `out`. Err: ERR_NOT_FOUND, ERR_FULL. */
int find_gone_text(struct db *db, int64_t suite, struct buf *out, struct fw_err *err);

/** The newest result of a cell of a suite by that name, from a push or an off-peak job, before comparison `before`. */
struct find_gone_word {
	int64_t comparison; /* 0: it was never measured */
	bool is_done;       /* the target ran it and was not rejected */
};
int find_gone_word(struct db *db, int64_t repo, const char *branch, const char *suite, const char *key, int64_t before,
	struct find_gone_word *out, struct fw_err *err);

/** Whether an alert about another commit already reports that the job's branch cannot be measured. 1, 0, -1. */
int find_gone_is_reported(struct db *db, const struct store_job *job, struct fw_err *err);

enum { FIND_GONE_MAX = 16 };
/* Alerts of the branch that the job's commit ends: no later job reported them. Shape: ids[FIND_GONE_MAX]. */

/** Alerts that no plan can be made. */
int find_gone_planned(struct db *db, const struct store_job *job, int64_t *ids, int *n, struct fw_err *err);
/** Alerts about whole suites that are all in `suites_json`, an array of names. */
int find_gone_named(
	struct db *db, const struct store_job *job, const char *suites_json, int64_t *ids, int *n, struct fw_err *err);

#endif
