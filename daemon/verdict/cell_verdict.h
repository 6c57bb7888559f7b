/**
 * cell_verdict.h - measurements and failures of a cell to its verdict, shared by worker and daemon. Pure.
 *
 * The steps: failures that prevent a verdict (cell_obstacle), missing measurements (cell_unmeasured), the verdict of its runs
 * (cell_judge), and the deciding series: its typical call, its sustained runs, or the mean of its group's calls (cell_decide).
 */
#ifndef VERDICT_CELL_VERDICT_H
#define VERDICT_CELL_VERDICT_H

#include "verdict/mean.h"

/** Facts besides timings. Failure classes are "" without a failure. */
struct cell_failure {
	const char *base, *target;
	const char *outside; /* of the worker or the device */
	bool is_itself;      /* both sides are one commit: a common failure is the target's as well */
	bool may_be_absent;  /* one side may do more than the other: rows of programs, or two providers */
	bool target_does;    /* the target supports the cell: its check passed, or its program has the row */
	bool other_inputs;   /* the sides computed from different inputs */
};

/** The failure that decides; CELL_ABSENT: a side does not support the cell, which counts against neither side. */
enum cell_cause { CELL_CLEAR, CELL_ABSENT, CELL_TARGET, CELL_BASE, CELL_INPUTS, CELL_OUTSIDE };

/**
 * Return the verdict of a cell that timings cannot judge; VERDICT_NONE, and CELL_CLEAR, for others. A failure of both sides is
 * the base's.
 */
enum verdict cell_obstacle(const struct cell_failure *t, enum cell_cause *cause);

/** Return the verdict of a cell without counted runs: rejected if device readings discarded some, else undecided. */
enum verdict cell_unmeasured(int voided);

/** Counted runs of one series, in order. */
struct cell_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX]; /* base_ms or target_ms NULL if only the estimate is stored */
	struct run_estimate estimate[STATS_RUNS_MAX];
	double beta; /* of those estimates */
};

/** Estimate all runs from their samples. Returns false without changes if samples of one are missing. */
bool cell_estimate(const struct rule *rule, struct cell_runs *l);

struct cell_finding {
	struct judgement typical;    /* pairs and sustained runs together */
	struct judgement sustained;  /* sustained runs only; all.runs 0: none */
	struct tail tail[MEAN_SETS]; /* slow calls of the series that decides, by set */
};

/**
 * Judge the deciding series with the sustained runs. Returns whether the former has its samples; if not, estimates, beta and
 * `out->tail` are used unchanged.
 */
bool cell_judge(const struct rule *general, const struct verdict_options *options, struct cell_runs *pairs,
	struct cell_runs *sustained_runs, struct cell_finding *out);

struct cell_verdict {
	enum verdict verdict;
	enum decider decider;
	int flags;
	double m, se;               /* the change of the verdict, log ratio */
	struct mean_judgement mean; /* zero without a group */
	char reason[160];           /* why undecided, or why a visible change is not called; "" else */
};

/**
 * Decide the cell. `group`: slow calls of all cells that run the same kernel, including this one; NULL: the mean is not judged.
 * Shape: group[MEAN_SETS].
 */
void cell_decide(const struct rule *rule, double threshold_pct, const struct cell_finding *f, const struct tail *group,
	struct cell_verdict *out);

#endif
