/**
 * cell_verdict.h - from what was measured of a cell, and what failed, to its verdict: the steps that worker and daemon share. Pure.
 *
 * The order of steps: what keeps a cell from being judged (cell_obstacle), whether it was measured (cell_unmeasured), what its runs
 * say (cell_judge), and what decides then: its typical call, its sustained runs, or the mean of its group's calls (cell_decide).
 */
#ifndef CORE_VERDICT_CELL_VERDICT_H
#define CORE_VERDICT_CELL_VERDICT_H

#include "core/verdict/mean.h"

/* ---- what failed ----------------------------------------------------------------------------------------------------- */

/** What is known beside timings. Classes of failures are "" where nothing failed. */
struct cell_failure {
	const char *base, *target;
	const char *outside; /* of the worker or the device */
	bool is_itself;      /* both sides are one commit: what both fail at is the target's as well */
	bool may_be_absent;  /* one side may do more than the other: rows of programs, or two providers */
	bool target_does;    /* the target is known to do the cell: its check passed, or its program has the row */
	bool other_inputs;   /* the sides computed from different inputs */
};

/** The failure that gives the verdict; CELL_ABSENT: a side does not do the cell, which counts against neither side. */
enum cell_cause { CELL_CLEAR, CELL_ABSENT, CELL_TARGET, CELL_BASE, CELL_INPUTS, CELL_OUTSIDE };

/** The verdict of a cell that timings cannot judge; VERDICT_NONE, and CELL_CLEAR, of every other. What both sides share is the base's. */
enum verdict cell_obstacle(const struct cell_failure *t, enum cell_cause *cause);

/** The verdict of a cell of which no run counts: rejected where the device's readings voided some, else undecided. */
enum verdict cell_unmeasured(int voided);

/* ---- what was measured ------------------------------------------------------------------------------------------------ */

/** Runs of one series that count, in their order. */
struct cell_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX]; /* base_ms or target_ms NULL where only the estimate is left */
	struct run_estimate estimate[STATS_RUNS_MAX];
	double beta; /* as it was estimated with them */
};

/** Estimate all runs from their samples. False, and nothing changes: samples of one are gone. */
bool cell_estimate(const struct rule *rule, struct cell_runs *l);

/** Findings from a cell's runs. */
struct cell_finding {
	struct judgement typical;    /* pairs and sustained runs together */
	struct judgement sustained;  /* sustained runs alone; all.launches 0: nothing */
	struct tail tail[MEAN_SETS]; /* slow calls of the series that decides, by set */
};

/**
 * Judge the runs of the series that decides, and the sustained runs beside them. Returns whether the former have their samples; where not,
 * estimates, beta and `out->tail` are used as they stand.
 */
bool cell_judge(const struct rule *general, const struct verdict_options *options, struct cell_runs *pairs,
	struct cell_runs *sustained_runs, struct cell_finding *out);

/* ---- what decides ------------------------------------------------------------------------------------------------------ */

struct cell_verdict {
	enum verdict verdict;
	enum decider decider;
	int flags;
	double m, se;               /* the change that the verdict stands for, log ratio */
	struct mean_judgement mean; /* zero without a group */
	char reason[160];           /* why undecided, or why something that shows is not called, in words; "" else */
};

/** `group`: slow calls of all cells that run the same kernel, this one among them; NULL: the mean is not judged. Shape: group[MEAN_SETS]. */
void cell_decide(const struct rule *rule, double threshold_pct, const struct cell_finding *f, const struct tail *group,
	struct cell_verdict *out);

#endif
