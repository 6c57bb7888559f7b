/**
 * baseline_period.h - baseline periods, the upstream branch as a line of commits, and their ratios to the reference commit. Loop only; writes inside the
 * caller's transaction.
 */
#ifndef DB_STORE_BASELINE_PERIOD_H
#define DB_STORE_BASELINE_PERIOD_H

#include "core/stats/changepoint.h"
#include "db/sqlite/db.h"

enum { STORE_LINE_LOOK = 2000 };

struct store_baseline_period {
	int64_t id, repo, environment;
	char suite[64], reference_sha[65];
	char first_sha[65]; /* the reference commit that it began with: what its ratios are stated against */
	double held_mhz;    /* NAN: no clock is known */
	int64_t started_at;
};

/** The baseline period of a repository in an environment. 1, 0, -1. */
int store_baseline_period_find(
	struct db *db, int64_t repo, int64_t environment, struct store_baseline_period *out, struct fw_err *err);
int store_baseline_period_get(struct db *db, int64_t id, struct store_baseline_period *out, struct fw_err *err);
/** Reference commit of the newest baseline period of a suite for a device: of its class, else of another of the same model; "" where there was none. Shape: sha[65]. */
int store_baseline_period_reference(
	struct db *db, int64_t repo, const char *suite, int64_t device, char *sha, struct fw_err *err);
/** Sets e->id; its first reference commit is the one that it has. */
int store_baseline_period_insert(struct db *db, struct store_baseline_period *e, struct fw_err *err);
/** State the clock that held figures are given at. */
int store_baseline_period_clock(struct db *db, int64_t id, double held_mhz, struct fw_err *err);

/** Measure against another commit from now on. */
int store_baseline_period_rereference(struct db *db, int64_t id, const char *reference_sha, struct fw_err *err);

/** A reference commit of a baseline period against the baseline period's first one, in one cell. */
struct store_chain {
	int64_t baseline_period, comparison;
	const char *reference_sha, *key;
	double x, se; /* log ratio of times, and its standard error */
};
int store_chain_insert(struct db *db, const struct store_chain *c, struct fw_err *err);
/** Where `reference_sha` lies in this cell: 0 without error for the first one. 1; 0 it never was a reference commit here, -1. */
int store_chain_get(struct db *db, const struct store_baseline_period *e, const char *reference_sha, const char *key, double *x,
	double *se, struct fw_err *err);
/** Whether a commit is, or once was, the reference commit of a baseline period. 1, 0, -1. */
int store_baseline_period_had(struct db *db, const struct store_baseline_period *e, const char *sha, struct fw_err *err);

/**
 * Note the upstream branch: sha[n], newest first, each the first parent of the one before. New commits take places after all
 * known ones; known ones that this line leaves out after the last common commit are dropped. `is_cut`: the list ends before
 * the first commit, so that meeting none that is known says nothing about those.
 */
int store_line_put(struct db *db, int64_t repo, const char (*sha)[65], int n, bool is_cut, struct fw_err *err);
/** Place of a commit on the line, 0 when it is not on it. */
int store_line_place(struct db *db, int64_t repo, const char *sha, int64_t *place, struct fw_err *err);
/**
 * The commit in the middle of those strictly between two places that nobody has measured yet as a target (comparisons of any
 * kind count, also those that failed). Shape: sha[65]. 1, 0, -1.
 */
int store_line_unmeasured(struct db *db, int64_t repo, int64_t after, int64_t before, char *sha, struct fw_err *err);

struct store_ratio {
	int64_t baseline_period, comparison;
	const char *key, *target_sha;
	double x, se; /* log ratio of times, target over reference commit, and its standard error */
};
int store_ratio_insert(struct db *db, const struct store_ratio *r, struct fw_err *err);
/** What one comparison measured of a cell. 1, 0, -1. */
int store_ratio_of(
	struct db *db, int64_t baseline_period, const char *key, int64_t comparison, double *x, double *se, struct fw_err *err);

/** A cell's newest points along the line, oldest first; a commit measured several times is its median. */
struct store_series {
	int n;
	struct store_series_point {
		char sha[65];
		int64_t place;
	} point[CHANGEPOINT_POINTS_MAX];
	double x[CHANGEPOINT_POINTS_MAX];
	int measured[CHANGEPOINT_POINTS_MAX]; /* times */
};
/** Only points from place `from` on, and of the last STORE_LINE_LOOK commits. */
int store_series(struct db *db, const struct store_baseline_period *e, const char *key, int64_t from, struct store_series *out,
	struct fw_err *err);
/** Commits of the whole baseline period that have a point for this cell. */
int store_series_count(struct db *db, int64_t baseline_period, const char *key, int *n, struct fw_err *err);

struct store_baseline_period_device {
	int64_t class, last_reference_at; /* when a repository's reference commit was last timed on it, 0 never */
	char uuid[64];
	bool stands_out, is_alone; /* of its class; in it */
};
/** Devices in order of classes that have measured a repository. The count, -1. Own: free(*out); NULL where there is none, and on -1. */
int store_baseline_period_devices(struct db *db, int64_t repo, struct store_baseline_period_device **out, struct fw_err *err);
/** The newest baseline period of a repository that a device of this class measures in. 1, 0, -1. */
int store_baseline_period_of_class(
	struct db *db, int64_t repo, int64_t class, struct store_baseline_period *out, struct fw_err *err);

#endif
