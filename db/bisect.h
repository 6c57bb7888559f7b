/** bisect.h - bisects as rows. Loop only; writes inside the caller's transaction. */
#ifndef DB_BISECT_H
#define DB_BISECT_H

#include "model/device_kind.h"
#include "verdict/verdict.h"
#include "db/db.h"
#include "db/job.h"

struct store_bisect {
	int64_t id, repo, alert, comparison, job; /* 0: none */
	char repo_name[128], origin[8], goal[16]; /* goal: regression failing; "" until both ends are measured */
	char good_sha[65], bad_sha[65], suite[64], verdict[16];
	enum device_kind device_kind;
	char cells[STORE_JOB_CELLS_SIZE]; /* globs; once the goal is known, keys */
	char state[16], state_why[512];
	int n_jobs;
	int64_t created_at, ended_at;
};

/** Insert in state listing; sets b->id. */
int store_bisect_insert(struct db *db, struct store_bisect *b, int64_t now_ms, struct fw_err *err);
/** ERR_NOT_FOUND. */
int store_bisect_get(struct db *db, int64_t id, struct store_bisect *out, struct fw_err *err);
/** The oldest open bisect with an id above `after_id`. 1, 0, -1. */
int store_bisect_next_open(struct db *db, int64_t after_id, struct store_bisect *out, struct fw_err *err);
/** A final state (done failed cancelled) sets ended_at. Err: ERR_CONFLICT it has ended already. */
int store_bisect_state(struct db *db, int64_t id, const char *state, const char *why, int64_t now_ms, struct fw_err *err);
/** Store the result of comparing both ends: goal, cells, verdict, comparison and suite of `b`. */
int store_bisect_goal(struct db *db, const struct store_bisect *b, struct fw_err *err);
int store_bisect_culprits(struct db *db, int64_t id, const char *culprits_json, struct fw_err *err);
/** Commit number `n`; 0 is the good end. */
int store_bisect_commit(struct db *db, int64_t id, int n, const char *sha, struct fw_err *err);
/** Number of the bad end; the hash of number `n`. ERR_NOT_FOUND. Shape: sha[65]. */
int store_bisect_last(struct db *db, int64_t id, int *n, struct fw_err *err);
int store_bisect_sha(struct db *db, int64_t id, int n, char *sha, struct fw_err *err);
/** Store the job that the bisect waits for, which compares these two commits. */
int store_bisect_wait(struct db *db, int64_t id, int64_t job, int base_n, int target_n, struct fw_err *err);

/** A measured cell of two commits. */
struct store_bisect_point {
	int base_n, target_n;
	int64_t comparison;
	const char *key;
	enum verdict verdict;
	double m, se, change_pct, threshold_pct;
};
typedef void store_bisect_point_fn(void *arg, const struct store_bisect_point *p);
/** Every measurement of two of the bisect's commits, of any origin; the latest of a pair comes last. */
int store_bisect_points(struct db *db, const struct store_bisect *b, store_bisect_point_fn *each, void *arg, struct fw_err *err);
/** Jobs of the bisect that have ended, with their cells. */
typedef void store_bisect_job_fn(void *arg, int base_n, int target_n, const char *cells);
int store_bisect_ended_jobs(struct db *db, int64_t id, store_bisect_job_fn *each, void *arg, struct fw_err *err);
/** Cells of a comparison; base_n and target_n are 0. */
int store_bisect_cells(struct db *db, int64_t comparison, store_bisect_point_fn *each, void *arg, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------- */

struct view_bisect {
	int64_t id, alert, comparison, job;
	const char *repo, *origin, *goal, *good, *bad, *suite, *device_kind, *cells, *state, *state_why, *verdict, *culprits_json;
	int commits, jobs; /* commits after the good end, 0 not listed yet; jobs so far */
	int64_t created_at, ended_at;
};
typedef void view_bisect_fn(void *arg, const struct view_bisect *row);
/** Newest first, from below `before` (0: the newest). */
int view_bisects(struct db *db, int64_t before, int limit, view_bisect_fn *each, void *arg, struct fw_err *err);
/** ERR_NOT_FOUND. */
int view_bisect(struct db *db, int64_t id, view_bisect_fn *each, void *arg, struct fw_err *err);

#endif
