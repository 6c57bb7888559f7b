/* clock.c - a posterior of two components. */
#include "stats/stats.h"

#include <math.h>

#define WANDER_A_MS 0.002
#define WANDER_MAX  0.02

void clock_prior_default(struct clock_prior *p)
{
	*p = (struct clock_prior){ .usual = 0.0015, .odd = 0.03, .odd_share = 0.01, .nu = 4, .k = 2 };
}

double clock_wander(double call_ms, int pairs)
{
	return fmin(WANDER_MAX, WANDER_A_MS * fmax(0, call_ms) / (pairs > 1 ? pairs : 1));
}

/* Posterior under one normal prior of standard deviation `prior`. */
static struct normal_component shrink(double prior, double seen, double se)
{
	double share = prior * prior / (prior * prior + se * se);

	return (struct normal_component){ .mean = share * seen, .variance = share * se * se };
}

struct clock_component clock_induced(const struct clock_prior *p, double seen, double se, double degrees)
{
	struct normal_component usual = shrink(p->usual, seen, se), odd = shrink(p->odd, seen, se);
	double wide = hypot(p->odd, se);
	double as_usual = (1 - p->odd_share) * stats_t_density(seen, hypot(p->usual, se), degrees);
	double as_odd = p->odd_share * exp(-seen * seen / (2 * wide * wide)) / (wide * sqrt(2 * M_PI));
	double separate = odd.mean - usual.mean;

	odd.weight = as_usual + as_odd > 0 ? as_odd / (as_usual + as_odd) : 1;
	usual.weight = 1 - odd.weight;
	return (struct clock_component){ .induced = usual.mean + odd.weight * separate,
		.variance = usual.weight * usual.variance + odd.weight * odd.variance +
			    usual.weight * odd.weight * separate * separate,
		.component = { usual, odd } };
}
