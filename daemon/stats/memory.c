/* memory.c - F test of learned noise against the observed one. */
#include "stats/stats.h"

#include <math.h>

#define CHANCE 0.001 /* at each end */

static double ln_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma writes a global variable */
}

/* Incomplete beta function by its power series, whose terms are all positive; 0 < x < 1. */
static double beta_series(double a, double b, double x)
{
	double front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * log(x) + b * log1p(-x)) / a;
	double term = 1, sum = 1;

	for (int i = 0; i < 10000 && term > 1e-12 * sum; i++) {
		term *= (a + b + i) / (a + 1 + i) * x;
		sum += term;
	}
	return front * sum;
}

/* Probability that the ratio of two equal variances is below `f`. */
static double below(double f, double above_freedom, double under_freedom)
{
	double a = above_freedom / 2, b = under_freedom / 2, x = a * f / (a * f + b);

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	return x < 0.5 ? beta_series(a, b, x) : 1 - beta_series(b, a, 1 - x);
}

/* Squared distances from the mean of their set, and degrees of freedom. */
static double squares_of(const struct run_estimate *e, int n, int *freedom)
{
	double squares = 0;

	*freedom = 0;
	for (int set = 1; set <= 2; set++) {
		double mean = 0;
		int of_set = 0;

		for (int i = 0; i < n; i++)
			if (e[i].set == set)
				mean += (e[i].d - mean) / ++of_set;
		for (int i = 0; i < n; i++)
			if (e[i].set == set)
				squares += (e[i].d - mean) * (e[i].d - mean);
		*freedom += of_set > 1 ? of_set - 1 : 0;
	}
	return squares;
}

bool memory_fits(double tau0, double nu0, const struct run_estimate *e, int n)
{
	int freedom;
	double squares = squares_of(e, n, &freedom);

	if (!(tau0 > 0) || !(nu0 > 0) || freedom < 1)
		return true;
	double share = below(squares / freedom / (tau0 * tau0), freedom, nu0);

	return share > CHANCE && share < 1 - CHANCE;
}

struct rule memory_rule(const struct rule *general, double tau0, double nu0, const struct run_estimate *e, int n)
{
	return memory_fits(tau0, nu0, e, n) ? stats_rule_of_cell(general, tau0, nu0) : *general;
}
