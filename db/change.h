/** change.h - change points of the history, from candidate to confirmed. Loop only; writes inside the caller's transaction. */
#ifndef DB_CHANGE_H
#define DB_CHANGE_H

#include "stats/candidate.h"
#include "db/baseline_period.h"

struct store_change {
	int64_t id, repo, baseline_period, comparison, alert; /* comparison, alert 0: none yet */
	int64_t job;                                          /* its latest job; 0 none */
	char key[160], kind[8], origin[12];                   /* kind: step drift; origin: comparison series */
	char before_sha[65], commit_sha[65];                  /* last commit of the old level, first of the new one */
	double step;                                          /* log ratio of times, positive = slower */
	double level;                                         /* of the series before it; drift: expected level; NAN: unknown */
	char state[12];                                       /* candidate placing confirmed dropped */
	int tried, points;
	int64_t found_at, decided_at, ended_at; /* ended: later commits compensated it; 0: not ended */
};

enum { STORE_EXPLAINED_MAX = 64 }; /* earlier steps beyond these are part of the first sum */

/** Expected log ratio of a cell to the first reference commit of its baseline period, cumulated along the upstream branch. */
struct store_explained {
	int n;
	struct {
		int64_t position;
		double x; /* log ratio from this position on */
	} at[STORE_EXPLAINED_MAX];
	int64_t answered; /* position at which the newest drift in it was reported; 0: none */
};

/** Sets c->id. */
int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err);
int store_change_get(struct db *db, int64_t id, struct store_change *out, struct fw_err *err);
/** Update all columns but repository, baseline period, cell, kind, origin and found_at. */
int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err);

/** Whether this cell has an open step (candidate or placing). 1, 0, -1. */
int store_change_is_open(struct db *db, int64_t baseline_period, const char *key, struct fw_err *err);
/** An open change point without an open job, with an id above `after`. 1, 0, -1. */
int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err);
/** An open change point that waits for this job, with an id above `after`. 1, 0, -1. */
int store_change_of_job(struct db *db, int64_t job, int64_t after, struct store_change *out, struct fw_err *err);
/** Position of the newest confirmed step of this cell; 0 none. */
int store_change_from(struct db *db, int64_t baseline_period, const char *key, int64_t *position, struct fw_err *err);
/**
 * Positions at which the level before a change point begins (0: start of the branch) and the level after it ends (0: no later
 * confirmed step).
 */
int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err);
/**
 * Confirmed steps after the first reference commit, and drift that a user closed (accepted, invalid, or resolved while it lasted), in the
 * order of commits; the sum is never below 0. An ended slowdown does not count, unless another step compensated it that counts, too. Change
 * points of earlier baseline periods of the same suite and model of device count.
 */
int store_change_explained(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_explained *out, struct fw_err *err);
/** Expected log ratio at this position; INT64_MAX: of the newest commit. */
double store_explained_at(const struct store_explained *x, int64_t position);
/** Steps of this cell at or after position `from` that were dropped because no direct comparison confirmed them. */
int store_change_past(
	struct db *db, int64_t baseline_period, const char *key, int64_t from, struct candidate_past *out, struct fw_err *err);
/** Reported drift of this cell, on this suite and device, that continues and that no user closed. 1, 0, -1. */
int store_change_drift(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_change *out, struct fw_err *err);
/** A confirmed slowdown of this cell, on this suite and device, that has not ended, with an id above `after`. 1, 0, -1. */
int store_change_lasting(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	struct store_change *out, struct fw_err *err);
/** Whether an alert is over: all its change points ended, and no comparison opened it (store_alert_recovered ends those). 1, 0, -1. */
int store_change_alert_over(struct db *db, int64_t alert, struct fw_err *err);

#endif
