/**
 * cell.h - the verdict of one cell: its failure if it has one, else the judgement of its timings. The same steps judge a new
 * result and one read back from the database. Pure.
 */
#ifndef FLOPWATCHD_JOB_CELL_H
#define FLOPWATCHD_JOB_CELL_H

#include "stats/stats.h"
#include "verdict/cell_verdict.h"
#include "db/result.h"
#include "flopwatchd/job/result.h"

/** Runs of one cell in one series, in order. A run whose device checks void its times does not count. */
struct judge_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX];       /* ms NULL if only the estimate is stored */
	struct run_estimate estimate[STATS_RUNS_MAX]; /* set by judge_timings for runs with pairs */
	struct msg_device_check device_check[STATS_RUNS_MAX];
	const struct msg_cell *message[STATS_RUNS_MAX]; /* the source record; NULL when read back */
};

/** All timings of one cell that determine its verdict and flags, and findings that its row does not store. */
struct judge_timed {
	struct judge_runs decides;        /* of the deciding series */
	struct judge_runs sustained_runs; /* series sustained */
	struct judge_runs call;           /* series call, unless it decides */
	struct judge_runs host;           /* host time of enqueue, in us instead of ms, if the device decides */

	struct cell_finding found; /* without samples: the slow calls as counted before */
};

/** Initialise without runs. */
void judge_timed_init(struct judge_timed *t);
/** The series that decides a cell: the device's, unless the suite or a benchmark sets another. */
enum series judge_series(const struct result *r, int cell);

/**
 * Fill the estimates of `t` and, in `c`, everything from `m` on. A cell without runs becomes undecided, one whose runs are all
 * void rejected. Flags that need deleted samples keep their value in `c`.
 */
void judge_timings(const struct rule *rule, bool sparse, struct judge_timed *t, struct store_cell *c);

/**
 * Judge the mean by the cell's slow calls and those of its group, pooled by the caller: sets `c->tail` and `c->mean`, and the
 * verdict with its figures if the mean decides. Changes nothing if no calls were counted. Shape: group[MEAN_SETS].
 */
void judge_mean(const struct rule *rule, const struct judge_timed *t, const struct tail *group, struct store_cell *c);

/** Estimate the target's time against that of `role` over all valid runs. False: they were not timed together. */
bool judge_estimate(const struct result *r, int cell, enum role role, struct estimate *out);

/** Class of failure that keeps the target from running cell `i`, whatever the base does; "" none. Shape: class[16]. */
void judge_target_class(const struct result *r, int i, char class[16]);

/** Judge cell `i` of a result: fills `c` (except ids) and `t`. */
void judge_cell(const struct result *r, int i, struct judge_timed *t, struct store_cell *c);

/** Median of a series' values over all runs of one side. `role`: ROLE_BASE or ROLE_TARGET. NAN: none. */
enum judge_values { JUDGE_MS, JUDGE_MHZ, JUDGE_HOST_US };
double judge_median(
	const struct result *r, int cell, enum series series, const char *phase, enum role role, enum judge_values which);

/** Change of throughput in percent with its 95 % interval; NAN if a side has no times, the ends also for a single run. */
struct judge_change {
	double change_pct, ci_low_pct, ci_high_pct;
};
/** Paired change of one series (and phase), clocks not removed. Shape: all runs of the result. */
struct judge_change judge_change(const struct result *r, int cell, enum series series, const char *phase);

#endif
