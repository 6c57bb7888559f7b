/** history.h - one cell over time, for people: its points, baseline periods, change points and alerts. As comparison.h. */
#ifndef DB_VIEW_HISTORY_H
#define DB_VIEW_HISTORY_H

#include "db/view/comparison.h"

/** What is asked for: `cell` is a key; branch and device (uuid) NULL or "" take any. */
struct view_scope {
	const char *repo, *branch, *cell, *device;
	int64_t since, until; /* of points: from `since` on and before `until`, 0 open */
	int64_t last;         /* the newest comparison that counts, 0 any; those after it cost nothing */
};

/** Err: ERR_NOT_FOUND a cell that was never measured there, on that branch or on that device: its empty history would say nothing of a mistyped name. */
int view_cell_known(struct db *db, const struct view_scope *of, struct fw_err *err);

struct view_point {
	int64_t comparison, finished_at, baseline_period; /* baseline period 0: none */
	const char *commit, *device;                      /* device: its uuid */
	double base_median_ms, median_ms, tflops, change_pct, ci_low_pct, ci_high_pct;
	double held_tflops;                                                       /* at the baseline period's clock */
	double reference_change_pct, reference_ci_low_pct, reference_ci_high_pct; /* throughput against the reference commit's */
	enum verdict verdict;
	bool borderline;
};
typedef void view_point_fn(void *arg, const struct view_point *row);
/** Timed points, newest first; limit up to VIEW_HISTORY_MAX. */
int view_history(struct db *db, const struct view_scope *of, int limit, view_point_fn *each, void *arg, struct fw_err *err);
/** The comparison that finished last up to a time, ms UTC. 1, 0 there is none, -1. */
int view_history_last(struct db *db, int64_t at, int64_t *last, struct fw_err *err);

struct view_baseline_period {
	int64_t id, started_at;
	const char *suite, *reference, *model, *driver, *toolkit, *cudnn, *isolation;
	const char *
		first_reference; /* that ratios are stated against; `reference commit` is the one that commits are timed beside */
	int64_t class;           /* of devices, which is of that model */
	double held_mhz, power_limit_w;
};
typedef void view_baseline_period_fn(void *arg, const struct view_baseline_period *row);
/** Baseline periods in which this cell was measured against a reference commit, oldest first. */
int view_baseline_periods(
	struct db *db, const struct view_scope *of, view_baseline_period_fn *each, void *arg, struct fw_err *err);

struct view_change {
	int64_t id, baseline_period, comparison, found_at, decided_at;
	int64_t ended_at, alert; /* later commits made up for it; the alert that tells of it; 0: none */
	const char *kind, *origin, *state, *before, *commit;
	double change_pct;
};
typedef void view_change_fn(void *arg, const struct view_change *row);
/** Change points of this cell, oldest first; candidates among them, dropped ones not. */
int view_changes(struct db *db, const struct view_scope *of, view_change_fn *each, void *arg, struct fw_err *err);

struct view_environment_change {
	int64_t id, seen_at, paired_job, unpaired_job, paired, unpaired, alert; /* 0: none, or not measured yet */
	const char *suite, *device, *changed_json;                              /* changed_json: [{"what","from","to"}] */
	double paired_pct, paired_low_pct, paired_high_pct;                     /* of throughput; NAN: not known */
	double unpaired_pct;
};
typedef void view_environment_change_fn(void *arg, const struct view_environment_change *row);
/** Where what is around the device changed, and what that did to this cell, oldest first. */
int view_environment_changes(
	struct db *db, const struct view_scope *of, view_environment_change_fn *each, void *arg, struct fw_err *err);

typedef void view_cell_alert_fn(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit);
/** The newest alerts that hold this cell. */
int view_cell_alerts(struct db *db, const struct view_scope *of, view_cell_alert_fn *each, void *arg, struct fw_err *err);

#endif
