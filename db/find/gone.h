/**
 * gone.h - what a branch had measured and has no more: rows, cells, suites, or a plan at all; and which alerts about that are over.
 * Loop only.
 */
#ifndef DB_FIND_GONE_H
#define DB_FIND_GONE_H

#include "db/store/job.h"
#include "db/store/result.h"

typedef void find_gone_fn(void *arg, const char *key, int64_t comparison);

/**
 * Rows that the base's program writes and the target's does not, in the order of the comparison, except those that the branch's
 * comparison before `c` reported already: a base that is not settled stays the base of the next commits.
 */
int find_gone_removed(struct db *db, const struct store_comparison *c, find_gone_fn *each, void *arg, struct fw_err *err);
/**
 * Cells that the branch's last whole comparison before `c` had and `c` lacks; those that it reported as removed are known. A comparison
 * whose rows are not known (identical, not built, ended early) is skipped, here and below.
 */
int find_gone_vanished(struct db *db, const struct store_comparison *c, find_gone_fn *each, void *arg, struct fw_err *err);
/** The cells that the branch's last comparison with this suite had, before the commit of `job`. */
int find_gone_suite(
	struct db *db, const struct store_job *job, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);

/** The branch's last whole comparison before, with a suite of that name. */
struct find_gone_last {
	int64_t comparison, suite; /* 0: there is none */
	int parts, parts_now;      /* of its suite, and of the suite as it is now; of one that is measured whole less than 2 */
};
/** Before `c`, whose suite it is now. */
int find_gone_last(struct db *db, const struct store_comparison *c, struct find_gone_last *out, struct fw_err *err);
/** With that suite, before the commit of `job`; nothing is known of it now. */
int find_gone_last_of(
	struct db *db, const struct store_job *job, const char *suite, struct find_gone_last *out, struct fw_err *err);
/** A suite's file as it was read, appended to `out`. Err: ERR_NOT_FOUND, ERR_FULL. */
int find_gone_text(struct db *db, int64_t suite, struct buf *out, struct fw_err *err);

/** The newest word on a cell of a suite by that name, by a push or at night, before comparison `before`. */
struct find_gone_word {
	int64_t comparison; /* 0: it was never measured */
	bool is_done;       /* the target did it, and was believed */
};
int find_gone_word(struct db *db, int64_t repo, const char *branch, const char *suite, const char *key, int64_t before,
	struct find_gone_word *out, struct fw_err *err);

/** Whether an alert about another commit says already that the job's branch cannot be measured. 1, 0, -1. */
int find_gone_is_told(struct db *db, const struct store_job *job, struct fw_err *err);

enum { FIND_GONE_MAX = 16 };
/* Alerts of the branch that the job's commit ends: none of them was told by a job that came later. Shape: ids[FIND_GONE_MAX]. */

/** Those that say that no plan can be made. */
int find_gone_planned(struct db *db, const struct store_job *job, int64_t *ids, int *n, struct fw_err *err);
/** Those about whole suites, all of which stand in `suites_json`, an array of names. */
int find_gone_named(
	struct db *db, const struct store_job *job, const char *suites_json, int64_t *ids, int *n, struct fw_err *err);

#endif
