/**
 * tail.h - slow calls, which a trimmed mean ignores. Pure.
 *
 * A call is slow if it takes 1.04 times its side's typical call of that run at equal clocks: at a power limit every tenth call
 * is that slow by its clock alone, and of 16,152 calls recorded on an H200 none was after removing the clock.
 */
#ifndef STATS_TAIL_H
#define STATS_TAIL_H

#include "stats/stats.h"

struct tail_side {
	int slow;
	double longer, squares; /* excess over the typical call, as a share: sum, and sum of squares */
	double spread;          /* slow^2 / calls of each run, summed: shows whether they are evenly distributed */
};

enum tail_which { TAIL_BASE, TAIL_TARGET };

/** Of one set of runs of a cell, or of several together. */
struct tail {
	int runs, calls; /* calls of each side */
	struct tail_side side[2];
};

/** Count those of one run. `beta`: of the cell, from stats_runs. A run of fewer than four pairs has no typical call. */
void tail_count(struct tail *t, const struct run_pairs *process_run, double beta);
void tail_pool(struct tail *t, const struct tail *other);

/** Return the share of a side's calls that are slow; 0 without calls. */
double tail_share(const struct tail *t, enum tail_which side);
/**
 * Return the variance of that share: by chance, or by its runs, with a weight that grows with their number. Above 0 even
 * without slow calls.
 */
double tail_share_variance(const struct tail *t, enum tail_which side);
/** Return the effect of slow calls on the mean: log ratio of target to base. */
double tail_cost(const struct tail *t);

/** Return the probability that side `more` has so many more slow calls by chance: Fisher, one-sided. */
double tail_p(const struct tail *t, enum tail_which more);
/** Return whether the difference is relevant: more than 5 points of share, or more than `theta` of the mean. */
bool tail_matters(const struct tail *t, enum tail_which more, double theta);

#endif
