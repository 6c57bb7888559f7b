/**
 * tail.h - slow calls, which a trimmed mean does not see. Pure.
 *
 * A call is slow when it takes 1.04 times its side's typical call of that run at equal clocks: beside a power limit every tenth call is
 * as slow as that by its clock alone, and of 16,152 calls recorded on an H200 none was with the clock taken out.
 */
#ifndef CORE_STATS_TAIL_H
#define CORE_STATS_TAIL_H

#include "core/stats/stats.h"

/** Slow calls of one side. */
struct tail_side {
	int slow;
	double longer, squares; /* by what share of the typical call they are longer: sum, and sum of squares */
	double spread;          /* slow^2 / calls of each run, summed: whether they come evenly */
};

enum tail_which { TAIL_BASE, TAIL_TARGET };

/** Of one set of runs of a cell, or of several together. */
struct tail {
	int runs, calls; /* calls of each side */
	struct tail_side side[2];
};

/** Count those of one run. `beta`: as stats_runs found it for the cell. A run of fewer than four pairs has no typical call. */
void tail_count(struct tail *t, const struct run_pairs *process_run, double beta);
/** Add what was counted elsewhere. */
void tail_pool(struct tail *t, const struct tail *other);

/** Share of the calls of a side that are slow; 0 without calls. */
double tail_share(const struct tail *t, enum tail_which side);
/** Variance of that share: as by chance, or as its runs show, which counts for more the more they are. Needs no slow call to be above 0. */
double tail_share_variance(const struct tail *t, enum tail_which side);
/** What slow calls make of the mean: log ratio of target to base. */
double tail_cost(const struct tail *t);

/** Probability that the calls of side `more` are slow so much more often by chance: Fisher, one-sided. */
double tail_p(const struct tail *t, enum tail_which more);
/** Whether the difference is large enough to matter: more than 5 points of share, or a cost of more than `theta` of the mean. */
bool tail_matters(const struct tail *t, enum tail_which more, double theta);

#endif
