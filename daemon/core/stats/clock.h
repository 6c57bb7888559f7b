/**
 * clock.h - which part of a difference of clocks is the branch's own doing. Pure.
 *
 * Beside a power limit a kernel that draws less runs at a higher clock. So the clock of a call is partly noise, which pairs should
 * not be judged by, and partly an effect of the branch, which users feel. Short calls show it within hundredths of a percent, and
 * there all of it is believed; clocks of long calls wander by percents from run to run, and there what is seen is drawn
 * towards what branches usually do.
 */
#ifndef CORE_STATS_CLOCK_H
#define CORE_STATS_CLOCK_H

#include "core/stats/interval.h"

/** What is known before: nearly every branch moves the clock by little, a few by much. Log ratios. */
struct clock_prior {
	double usual;     /* standard deviation of what branches do; 0.0015 */
	double odd;       /* the same of the few; 0.03 */
	double odd_share; /* how many those are; 0.01 */
	double nu;        /* weight in runs of what pairs say about the noise of clocks; 4 */
	double k;         /* standard errors of the clock's part in a decision; 2 */
};

void clock_prior_default(struct clock_prior *p);

enum { CLOCK_PARTS = 2 };

/** What the branch does to the clock: mean (a log ratio) and variance of its posterior, and the normals that it is a mixture of. */
struct clock_part {
	double induced, variance;
	struct normal_part part[CLOCK_PARTS]; /* weights sum up to 1 */
};

/**
 * Posterior of the induced part under a mixture of two normal priors, the seen one having a Student t error.
 * Units: `seen` the mean log ratio of clocks, `se` its standard error, `degrees` those that se is known with.
 */
struct clock_part clock_induced(const struct clock_prior *p, double seen, double se, double degrees);

/**
 * Noise that clocks have from run to run, whatever the pairs of one show: a clock stands still over a call, so a run of
 * few long calls sees few of its states. Measured on an H200: 0.2 % for each millisecond of a call, divided by the pairs of a run, from
 * 0.02 % (4 ms, 32 pairs) to 2.5 % (53 ms, 4 pairs); at most 2 %. Units: ms; a log ratio.
 */
double clock_wander(double call_ms, int pairs);

#endif
