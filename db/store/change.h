/** change.h - change points in the history: found, compared directly, placed. Loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_CHANGE_H
#define DB_STORE_CHANGE_H

#include "core/stats/candidate.h"
#include "db/store/baseline_period.h"

struct store_change {
	int64_t id, repo, baseline_period, comparison, alert; /* comparison, alert 0: none yet */
	int64_t job;                                          /* that was last asked for it; 0 none */
	char key[160], kind[8], origin[12];                   /* kind: step drift; origin: comparison series */
	char before_sha[65], commit_sha[65];                  /* last commit of the old level, first of the new one */
	double step;                                          /* log ratio of times, positive = slower */
	double level;   /* of the series before it, drift: what was expected; NAN: not known */
	char state[12]; /* candidate placing confirmed dropped */
	int tried, points;
	int64_t found_at, decided_at, ended_at; /* ended: later commits made up for it; 0: not so */
};

enum { STORE_EXPLAINED_MAX = 64 }; /* further ones are in the sum of those behind them */

/** What is expected of a cell on top of its baseline period's first reference commit, added up along the line. */
struct store_explained {
	int n;
	struct {
		int64_t place;
		double x; /* log ratio, from this place on */
	} at[STORE_EXPLAINED_MAX];
	int64_t answered; /* place at which the newest drift in it was told; 0: there is none */
};

/** Sets c->id. */
int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err);
int store_change_get(struct db *db, int64_t id, struct store_change *out, struct fw_err *err);
/** Write back all but what it is about: repository, baseline period, cell, kind, origin and when it was found. */
int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err);

/** Whether a step of this cell is being looked into. 1, 0, -1. */
int store_change_is_open(struct db *db, int64_t baseline_period, const char *key, struct fw_err *err);
/** An open change point for which no job is under way any more, with an id above `after`. 1, 0, -1. */
int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err);
/** An open change point that waits for this job, with an id above `after`. 1, 0, -1. */
int store_change_of_job(struct db *db, int64_t job, int64_t after, struct store_change *out, struct fw_err *err);
/** Place on the line where the newest confirmed step of this cell begins; 0 none. */
int store_change_from(struct db *db, int64_t baseline_period, const char *key, int64_t *place, struct fw_err *err);
/** Places where the level around a change point begins (0: the line's) and where the next one begins (0: none does), by confirmed steps. */
int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err);
/**
 * The steps that were confirmed after the first reference commit's commit, and the drift that people have answered for (accepted, called
 * invalid, or resolved while it lasted), in the order of commits and never below 0. A loss that ended counts no more, unless it is a
 * step that another one made up for, which counts as well. What an earlier baseline period of the same suite and device knows counts here.
 */
int store_change_explained(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_explained *out, struct fw_err *err);
/** What is expected of a commit at this place; INT64_MAX: of the newest. */
double store_explained_at(const struct store_explained *x, int64_t place);
/** The steps of this cell at `from`, a place on the line, or after it that were dropped, because no direct comparison confirmed them. */
int store_change_past(
	struct db *db, int64_t baseline_period, const char *key, int64_t from, struct candidate_past *out, struct fw_err *err);
/** Drift of this cell that was told, goes on, and that nobody has answered for; on this suite and device. 1, 0, -1. */
int store_change_drift(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_change *out, struct fw_err *err);
/**
 * A confirmed loss of this cell that has not ended, with an id above `after`; on this suite and device. 1, 0, -1.
 */
int store_change_lasting(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	struct store_change *out, struct fw_err *err);
/** Whether an alert is over: no change point of it lasts, and no comparison opened it, which would have to end it. 1, 0, -1. */
int store_change_alert_over(struct db *db, int64_t alert, struct fw_err *err);

#endif
