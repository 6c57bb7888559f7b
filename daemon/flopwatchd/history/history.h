/** history.h - baselines, calibration, change points, environment changes. */
#ifndef FLOPWATCHD_HISTORY_HISTORY_H
#define FLOPWATCHD_HISTORY_HISTORY_H

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"

/*
 * ---- baseline_period ----
 * The baseline period of a result in its repository's history, and the result's ratio to the period's
 * reference commit. Absolute times change with driver, compiler, suite and power limit, and slightly from day to day; the ratio
 * to a pinned commit timed in the same runs does not. Upstream commits are therefore measured against a reference commit, and a
 * new environment starts a new baseline period with the same reference commit: an event, never an alert. Inside the judge's
 * transaction; loop only.
 */

struct baseline_period {
	struct store_baseline_period row; /* row.id 0: none, the result belongs to no history */
	enum role against;                /* role of the reference commit in this result */
	double clock_mhz;                 /* typical clock of this result; NAN unknown */
};

/**
 * Find or start the baseline period of a result measured in `environment`. The first result of the upstream branch makes its base
 * the reference commit. A new environment inherits the reference commit and queues its measurement there, unless this result
 * includes it.
 */
int baseline_period_enter(struct db *db, const struct result *r, const struct store_job *job, int64_t environment, int64_t now_ms,
	struct baseline_period *out, struct fw_err *err);

/**
 * Fill a judged cell's history: baseline period, time at the held clock, and change against the period's first reference
 * commit. Ratios to later reference commits are chained to it with their errors. `x` and `se`: NAN without a ratio.
 */
int baseline_period_cell(struct db *db, const struct baseline_period *e, const struct result *r, int cell, struct store_cell *c,
	double *x, double *se, struct fw_err *err);

/** Store the time of a judged cell's reference commit, if its clock was observed and no other device confirmed the cell. */
int baseline_period_reference_time(struct db *db, const struct baseline_period *e, const struct result *r, int cell,
	const struct store_cell *c, int64_t device, struct fw_err *err);

/*
 * ---- calibrate ----
 * Calibration: the known noise of each cell on a device sets its rule, and equal builds update that noise. Inside
 * the caller's transaction; loop only.
 */

/** Set the stored noise of the plan's cells on `device` (row). A job of kind calibrate gets a minimum of runs. */
int calibrate_plan(struct db *db, struct plan *plan, int64_t repo, int64_t device, int64_t now_ms, struct fw_err *err);

/**
 * Learn noise from a judged cell of `c` with the runs `l`: from A/A comparisons, and from changes with verdict unchanged. A
 * comparison without an environment is ignored.
 */
int calibrate_learn(struct db *db, const struct result *r, const struct store_comparison *c, const struct judge_runs *l,
	const struct store_cell *cell, struct fw_err *err);

/**
 * Queue a calibration of the upstream branch's tip: an A/A comparison with the priority, origin, repo, suite, device_kind and
 * device_uuid of `like`. Sets like->id. Err: ERR_NOT_FOUND the branch was never seen.
 */
int calibrate_enqueue(struct db *db, const char *upstream, struct store_job *like, int64_t now_ms, struct fw_err *err);

/* ---- change: Confirmation of a change point: direct comparisons, backfill between unmeasured commits, the alert. ---- */

struct trend {
	struct db *db;
	const struct config *config; /* NULL: no notifications */
	int64_t now_ms;
};

/** Queue a job of a baseline period: sets suite, device and base_how. `why`: one line for its log. */
int trend_enqueue(
	const struct trend *t, const struct store_baseline_period *e, struct store_job *job, const char *why, struct fw_err *err);

/** Queue the direct comparison of the next pair of commits around a candidate; drops the candidate if no pair remains. */
int trend_verify(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err);

/** Update the change points that wait for a job from its comparison `c`; no effect if none waits. */
int trend_answer(const struct trend *t, const struct store_job *job, const struct store_comparison *c, struct fw_err *err);

/** Continue an open change point whose job ended without a result. */
int trend_continue(const struct trend *t, struct store_change *c, struct fw_err *err);

/** Report a confirmed change point: an event, and an alert if it is slower. */
int trend_report(const struct trend *t, struct store_change *c, struct fw_err *err);

/*
 * ---- device_offset ----
 * Outliers of a device class: a device whose reference commit at held clock runs at another speed than on the other devices, or
 * whose A/A comparisons report regressions. Until it agrees again, such a device gets only jobs that name it, as long as another
 * device of its class can run the others. A class of one device has no outlier.
 */

/** Check the class in the caller's transaction: a row and an event for each changed device. Err: the database. */
int device_offset_check(struct db *db, int64_t class, int64_t now_ms, struct fw_err *err);

/*
 * ---- environment ----
 * The effect of a changed environment on times. Paired: one commit built by the old and the new toolchain ran together. Unpaired:
 * the reference commit against the previous baseline period at its clock. Messages mark an unpaired result. Inside the judge's
 * transaction.
 */

/** An unpaired slowdown below this is day-to-day variation. Units: percent. */
#define ENVIRONMENT_UNPAIRED_PCT 3.0

/**
 * If a stored result measures a change, store its effect on each cell and open an alert of kind environment if cells are slower.
 * `lost`: regressions of a paired comparison, and cells that fail in the new build. *alert: its row, 0 none.
 */
int environment_follow(struct db *db, const struct config *config, const struct result *r, const struct store_comparison *c,
	struct alert_cells *lost, int64_t now_ms, int64_t *alert, struct fw_err *err);

/*
 * ---- off_peak ----
 * The off-peak schedule for cells of large suites that no push measures. Each job measures one shard of the upstream branch
 * against the commit at which the shard was last measured, in the configured hours and while no other job waits. Inside the
 * caller's transaction; loop only.
 */

/** True during the configured hours; `since_ms` is their start. Units: ms since 1970; for `idle` the last day. */
bool off_peak_is_now(const struct config *c, int64_t now_ms, int64_t *since_ms);

/**
 * Queue the due shard for each device class without a waiting job. `is_share`: only the share of the current off-peak period.
 * Returns the number, -1.
 */
int off_peak_enqueue_due(struct db *db, const struct config *c, const struct config_repo *repo, int64_t repo_id, bool is_share,
	int64_t now_ms, struct fw_err *err);

/*
 * ---- peers ----
 * Comparisons of the upstream branch with its peers: jobs of kind peer, whose base is the target's own commit with
 * the peer's provider. Inside the caller's transaction; loop only.
 */

/**
 * Queue due comparisons: the newest measured upstream commit against each peer of the configuration, else of its base's manifest,
 * on each device without a waiting job, once for each module and environment. Returns the number, -1.
 */
int peerjobs_enqueue_due(struct db *db, const struct config_repo *repo, int64_t repo_id, int64_t now_ms, struct fw_err *err);

/**
 * Queue `like` against each of `peers`. `like` holds repo, target_sha and optionally suite, device_kind, device_uuid, priority
 * and origin. Shape: jobs[peers->n]. 0, -1.
 */
int peerjobs_request(struct db *db, const struct store_job *like, const struct peers *peers, int64_t now_ms, int64_t *jobs,
	struct fw_err *err);

/** Rewrite the stored bodies of comparisons that a judged peer comparison affects. */
int peerjobs_report(struct db *db, int64_t comparison, struct fw_err *err);

/*
 * ---- rereference ----
 * Replacement of a reference commit from which a series has drifted far. Two very different builds draw different power and
 * disturb each other in one run. So the newest upstream commit is measured against the reference commit with all runs and
 * replaces it. Every later ratio is shifted by the measured ratio and carries its error. An event, never an alert. Inside the
 * judge's transaction.
 */

#define REREFERENCE_ORIGIN "rereference" /* of the job; its plan runs all runs */

/*
 * ---- trend ----
 * Change points and drift in the upstream history, below the threshold of one comparison. After each new point of a
 * series the scan of stats/changepoint.c runs. A step that it finds is a candidate: the two commits around it are compared
 * directly (jobs of kind verify), then their neighbours. A confirmed step is located among commits that were never measured
 * (kind backfill) and stored as a change point, with an alert if it is slower. Every step is a row, so a restart resumes where
 * it stopped. Inside the judge's transaction; loop only.
 */

/** Update the history from a stored result. Its job is done, its cells and ratios are stored. */
int trend_follow(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	const struct baseline_period *e, int64_t now_ms, struct fw_err *err);

/** Continue change points whose jobs ended without a result. */
int trend_resume(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
