/**
 * cell.h - one cell's verdict: what went wrong with it first, else what its timings say.
 *
 * The same steps serve a result that has just arrived and one that is read back from the database. Pure.
 */
#ifndef FLOPWATCHD_JUDGE_CELL_H
#define FLOPWATCHD_JUDGE_CELL_H

#include "core/stats/stats.h"
#include "core/verdict/cell_verdict.h"
#include "db/store/result.h"
#include "flopwatchd/job/result.h"

/** Runs of one cell in one series, in their order. One whose guard readings discard its times is not believed. */
struct judge_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX];       /* ms NULL where only the estimate is left */
	struct run_estimate estimate[STATS_RUNS_MAX]; /* filled by judge_timings where there are pairs */
	struct msg_device_check device_check[STATS_RUNS_MAX];
	const struct msg_cell *message[STATS_RUNS_MAX]; /* where they came from; NULL when read back */
};

/** All timings of one cell that its verdict and its flags come from, and what judging them found beside the row. */
struct judge_timed {
	struct judge_runs decides;        /* of the series that decides */
	struct judge_runs sustained_runs; /* series sustained */
	struct judge_runs call;           /* series call, where it does not decide */
	struct judge_runs host;           /* the host's time of enqueue, us in place of ms, where the device decides */

	struct cell_finding found; /* where samples are gone its slow calls are those that were counted before */
};

/** Begin with nothing: no runs, no host times. */
void judge_timed_init(struct judge_timed *t);
/** The series that decides a cell: the device's unless the suite, or a program of its own, says otherwise. */
enum series judge_series(const struct result *r, int cell);

/**
 * Fill the estimates of `t` and, in `c`, everything from `m` on. A cell without runs becomes undecided, one without a
 * run that is believed, rejected. Flags that need samples which are gone stay as they are in `c`.
 */
void judge_timings(const struct rule *rule, bool sparse, struct judge_timed *t, struct store_cell *c);

/**
 * Judge the mean by the cell's own slow calls and those of its group, which the caller has pooled: `c->tail` and `c->mean`, and where it decides
 * the verdict and all that stands for it. Where no calls were counted everything stays. Shape: group[MEAN_SETS].
 */
void judge_mean(const struct rule *rule, const struct judge_timed *t, const struct tail *group, struct store_cell *c);

/** Time of the target against that of `role` in the series that decides, all believed runs together. False: they were not timed side by side. */
bool judge_estimate(const struct result *r, int cell, enum role role, struct estimate *out);

/** What keeps the target from doing cell `i`, whatever the base does: a class of failures, "" nothing. Shape: class[16]. */
void judge_target_class(const struct result *r, int i, char class[16]);

/** Judge cell `i` of a result: fills `c` (but ids) and `t`. */
void judge_cell(const struct result *r, int i, struct judge_timed *t, struct store_cell *c);

/** Middle of a series' values over all runs of one side. `role`: ROLE_BASE or ROLE_TARGET. NAN: none. */
enum judge_values { JUDGE_MS, JUDGE_MHZ, JUDGE_HOST_US };
double judge_median(
	const struct result *r, int cell, enum series series, const char *phase, enum role role, enum judge_values which);

/** Change of throughput in percent with its 95 % interval; NAN where a side has no times, the ends also with one run alone. */
struct judge_change {
	double change_pct, ci_low_pct, ci_high_pct;
};
/**
 * The paired change of one series (and phase) of a cell, runs combined as those of a verdict are, without taking clocks out.
 * Shape: all runs of the result.
 */
struct judge_change judge_change(const struct result *r, int cell, enum series series, const char *phase);

#endif
