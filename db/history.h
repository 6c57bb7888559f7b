/** history.h - history of one cell: its points, baseline periods, change points and alerts. As comparison.h. */
#ifndef DB_HISTORY_H
#define DB_HISTORY_H

#include "db/comparison.h"

/** Filters: `cell` is a key; branch and device (uuid) NULL or "" take any. */
struct view_scope {
	const char *repo, *branch, *cell, *device;
	int64_t since, until; /* of points: from `since` on and before `until`, 0 open */
	int64_t last;         /* the newest comparison that counts, 0 any; later ones are not read */
};

/** Err: ERR_NOT_FOUND the cell was never measured on that branch or device, so that a mistyped name does not give an empty history. */
int view_cell_known(struct db *db, const struct view_scope *of, struct fw_err *err);

struct view_point {
	int64_t comparison, finished_at, baseline_period; /* baseline period 0: none */
	const char *commit, *device;                      /* device: uuid */
	double base_median_ms, median_ms, tflops, change_pct, ci_low_pct, ci_high_pct;
	double held_tflops; /* at the baseline period's clock */
	double reference_change_pct, reference_ci_low_pct,
		reference_ci_high_pct; /* throughput relative to the reference commit */
	enum verdict verdict;
	bool borderline;
};
typedef void view_point_fn(void *arg, const struct view_point *row);
/** Timed points, newest first; limit up to VIEW_HISTORY_MAX. */
int view_history(struct db *db, const struct view_scope *of, int limit, view_point_fn *each, void *arg, struct fw_err *err);
/** The last comparison finished up to a time, ms UTC. 1, 0 none, -1. */
int view_history_last(struct db *db, int64_t at, int64_t *last, struct fw_err *err);

struct view_baseline_period {
	int64_t id, started_at;
	const char *suite, *reference, *model, *driver, *toolkit, *cudnn, *isolation;
	const char *first_reference; /* ratios are relative to it; `reference` is the commit measured against now */
	int64_t class;               /* of devices of that model */
	double held_mhz, power_limit_w;
};
typedef void view_baseline_period_fn(void *arg, const struct view_baseline_period *row);
/** Baseline periods in which this cell was measured against a reference commit, oldest first. */
int view_baseline_periods(
	struct db *db, const struct view_scope *of, view_baseline_period_fn *each, void *arg, struct fw_err *err);

struct view_change {
	int64_t id, baseline_period, comparison, found_at, decided_at;
	int64_t ended_at, alert; /* later commits compensated it; the alert that reports it; 0: none */
	const char *kind, *origin, *state, *before, *commit;
	double change_pct;
};
typedef void view_change_fn(void *arg, const struct view_change *row);
/** Change points of this cell, oldest first, with candidates and without dropped ones. */
int view_changes(struct db *db, const struct view_scope *of, view_change_fn *each, void *arg, struct fw_err *err);

struct view_environment_change {
	int64_t id, seen_at, paired_job, unpaired_job, paired, unpaired, alert; /* 0: none, or not measured yet */
	const char *suite, *device, *changed_json;                              /* changed_json: [{"what","from","to"}] */
	double paired_pct, paired_low_pct, paired_high_pct;                     /* of throughput; NAN: unknown */
	double unpaired_pct;
};
typedef void view_environment_change_fn(void *arg, const struct view_environment_change *row);
/** Changes of the device's environment and their effect on this cell, oldest first. */
int view_environment_changes(
	struct db *db, const struct view_scope *of, view_environment_change_fn *each, void *arg, struct fw_err *err);

typedef void view_cell_alert_fn(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit);
/** The newest alerts with this cell. */
int view_cell_alerts(struct db *db, const struct view_scope *of, view_cell_alert_fn *each, void *arg, struct fw_err *err);

#endif
