/*
 * distribution.c - distributions for stats.c: Student's t for intervals and clocks, the hypergeometric for Fisher's test.
 *
 * Implemented here, so that worker and daemon need no numeric library and compute the same digits. lgamma_r is used because
 * lgamma writes a global variable.
 */
#include "stats/stats.h"

#include <math.h>

static double ln_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Continued fraction of the incomplete beta function by Lentz's method; converges for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);

	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;

	for (int m = 1; m <= 500; m++) {
		for (int odd = 0; odd < 2; odd++) {
			double step = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
					  : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

			d = 1 + step * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + step / c;
			c = fabs(c) < tiny ? tiny : c;
			h *= d * c;
		}
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_tail(double t, double degrees)
{
	double half;

	if (isinf(t))
		return t > 0 ? 0 : 1;
	half = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
	return t > 0 ? half : 1 - half;
}

/* Newton's method on ln P over ln t, which is concave: from the first step on it approaches the root from one side. */
double stats_t_above(double p, double degrees)
{
	double t = 1, nu = degrees >= 1 ? degrees : 1;

	for (int i = 0; i < 100; i++) {
		double tail = stats_t_tail(t, nu), slope = stats_t_density(t, 1, nu) * t / tail, step = log(tail / p) / slope;

		t *= exp(step);
		if (fabs(step) < 1e-14)
			break;
	}
	return t;
}

double stats_t95(double degrees)
{
	return stats_t_above(0.025, degrees);
}

static double ln_choose(int n, int k)
{
	return ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
}

double stats_fisher(int base_slow, int base_total, int target_slow, int target_total)
{
	int slow = base_slow + target_slow, total = base_total + target_total;
	int most = slow < target_total ? slow : target_total;
	double p = 0, all = ln_choose(total, slow);

	for (int k = target_slow; k <= most; k++)
		if (slow - k <= base_total)
			p += exp(ln_choose(target_total, k) + ln_choose(base_total, slow - k) - all);
	return p > 1 ? 1 : p;
}

double stats_t_density(double x, double scale, double degrees)
{
	double nu = degrees >= 1 ? degrees : 1, t = x / scale;
	double ln = ln_gamma((nu + 1) / 2) - ln_gamma(nu / 2) - (nu + 1) / 2 * log1p(t * t / nu);

	return exp(ln) / (scale * sqrt(nu * M_PI));
}
