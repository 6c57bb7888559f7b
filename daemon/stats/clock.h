/**
 * clock.h - the part of a clock difference that the branch causes. Pure.
 *
 * At a power limit a kernel that draws less power runs at a higher clock. So the clock of a call is partly noise, which must
 * not affect a verdict on pairs, and partly an effect of the branch, which users see. Short calls show it within hundredths of
 * a percent, and are trusted fully; clocks of long calls drift by percents between runs, and their estimate is shrunk towards
 * the usual effect of branches.
 */
#ifndef STATS_CLOCK_H
#define STATS_CLOCK_H

#include "stats/interval.h"

/** Prior knowledge: nearly every branch changes the clock by little, a few by much. Log ratios. */
struct clock_prior {
	double usual;     /* standard deviation of most branches; 0.0015 */
	double odd;       /* the same of the few; 0.03 */
	double odd_share; /* their share; 0.01 */
	double nu;        /* weight in runs of the pairs' noise of clocks; 4 */
	double k;         /* standard errors of the clock's part in a decision; 2 */
};

void clock_prior_default(struct clock_prior *p);

enum { CLOCK_PARTS = 2 };

/**
 * The branch's effect on the clock: mean (a log ratio) and variance of its posterior, and the normals that it is a mixture of.
 */
struct clock_part {
	double induced, variance;
	struct normal_part part[CLOCK_PARTS]; /* weights sum up to 1 */
};

/**
 * Compute the posterior of the induced part under a mixture of two normal priors, with a Student t error of the observation.
 * Units: `seen` the mean log ratio of clocks, `se` its standard error, with `degrees` of freedom.
 */
struct clock_part clock_induced(const struct clock_prior *p, double seen, double se, double degrees);

/**
 * Return the noise of clocks between runs, besides the noise of pairs: a clock is constant over a call, so a run of few long
 * calls samples few of its states. Measured on an H200: 0.2 % for each millisecond of a call, divided by the pairs of a run,
 * from 0.02 % (4 ms, 32 pairs) to 2.5 % (53 ms, 4 pairs); at most 2 %. Units: ms; a log ratio.
 */
double clock_wander(double call_ms, int pairs);

#endif
