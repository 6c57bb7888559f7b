/**
 * baseline_period.h - baseline periods, the first-parent history of the upstream branch, and ratios of commits to the reference
 * commit. Loop only; writes inside the caller's transaction.
 */
#ifndef DB_BASELINE_PERIOD_H
#define DB_BASELINE_PERIOD_H

#include "stats/changepoint.h"
#include "db/db.h"

enum { STORE_LINE_LOOK = 2000 };

struct store_baseline_period {
	int64_t id, repo, environment;
	char suite[64], reference_sha[65];
	char first_sha[65]; /* its first reference commit, which ratios are relative to */
	double held_mhz;    /* clock that held times are scaled to; NAN: unknown */
	int64_t started_at;
};

/** The baseline period of a repository in an environment. 1, 0, -1. */
int store_baseline_period_find(
	struct db *db, int64_t repo, int64_t environment, struct store_baseline_period *out, struct fw_err *err);
int store_baseline_period_get(struct db *db, int64_t id, struct store_baseline_period *out, struct fw_err *err);
/**
 * Reference commit of a suite's newest baseline period on the device's class, else on another class of the same model; "" none.
 * Shape: sha[65].
 */
int store_baseline_period_reference(
	struct db *db, int64_t repo, const char *suite, int64_t device, char *sha, struct fw_err *err);
/** Insert with reference_sha as its first reference commit. Sets e->id. */
int store_baseline_period_insert(struct db *db, struct store_baseline_period *e, struct fw_err *err);
/** Set held_mhz. */
int store_baseline_period_clock(struct db *db, int64_t id, double held_mhz, struct fw_err *err);

/** Replace the current reference commit. */
int store_baseline_period_rereference(struct db *db, int64_t id, const char *reference_sha, struct fw_err *err);

/** A later reference commit relative to the first one of its baseline period, in one cell. */
struct store_chain {
	int64_t baseline_period, comparison;
	const char *reference_sha, *key;
	double x, se; /* log ratio of times, and its standard error */
};
int store_chain_insert(struct db *db, const struct store_chain *c, struct fw_err *err);
/**
 * Log ratio of `reference_sha` to the first reference commit; 0 with se 0 for the first. 1; 0 never a reference commit of this
 * cell, -1.
 */
int store_chain_get(struct db *db, const struct store_baseline_period *e, const char *reference_sha, const char *key, double *x,
	double *se, struct fw_err *err);
/** Whether a commit is or was the reference commit of a baseline period. 1, 0, -1. */
int store_baseline_period_had(struct db *db, const struct store_baseline_period *e, const char *sha, struct fw_err *err);

/**
 * Store the upstream branch: sha[n], newest first, each the first parent of the one before. New commits get positions after all
 * stored ones; stored commits after the last common one that are not in the list are dropped. `is_cut`: the list ends before the
 * first commit, so stored commits are not dropped where it has none of them.
 */
int store_line_put(struct db *db, int64_t repo, const char (*sha)[65], int n, bool is_cut, struct fw_err *err);
/** Position of a commit on the upstream branch; 0 not on it. */
int store_line_position(struct db *db, int64_t repo, const char *sha, int64_t *position, struct fw_err *err);
/**
 * The middle one of the commits strictly between two positions that are no comparison's target yet (of any kind, failed ones
 * included). Shape: sha[65]. 1, 0, -1.
 */
int store_line_unmeasured(struct db *db, int64_t repo, int64_t after, int64_t before, char *sha, struct fw_err *err);

struct store_ratio {
	int64_t baseline_period, comparison;
	const char *key, *target_sha;
	double x, se; /* log ratio of times, target over reference commit, and its standard error */
};
int store_ratio_insert(struct db *db, const struct store_ratio *r, struct fw_err *err);
/** The ratio of a cell in one comparison. 1, 0, -1. */
int store_ratio_of(
	struct db *db, int64_t baseline_period, const char *key, int64_t comparison, double *x, double *se, struct fw_err *err);

/** A cell's newest points along the upstream branch, oldest first; the median of a commit measured several times. */
struct store_series {
	int n;
	struct store_series_point {
		char sha[65];
		int64_t position;
	} point[CHANGEPOINT_POINTS_MAX];
	double x[CHANGEPOINT_POINTS_MAX];
	int measured[CHANGEPOINT_POINTS_MAX]; /* number of measurements */
};
/** Reads only points from position `from` on, and of the last STORE_LINE_LOOK commits. */
int store_series(struct db *db, const struct store_baseline_period *e, const char *key, int64_t from, struct store_series *out,
	struct fw_err *err);
/** Count the commits of the baseline period with a point for this cell. */
int store_series_count(struct db *db, int64_t baseline_period, const char *key, int *n, struct fw_err *err);

struct store_baseline_period_device {
	int64_t class, last_reference_at; /* last measurement of the repository's reference commit; 0 never */
	char uuid[64];
	bool stands_out, is_alone; /* deviates from its class; is the only device of its class */
};
/** Devices in state ok of classes that measured a repository. The count, -1. Own: free(*out); NULL where there is none, and on -1. */
int store_baseline_period_devices(struct db *db, int64_t repo, struct store_baseline_period_device **out, struct fw_err *err);
/** The newest baseline period of a repository on this class. 1, 0, -1. */
int store_baseline_period_of_class(
	struct db *db, int64_t repo, int64_t class, struct store_baseline_period *out, struct fw_err *err);

#endif
