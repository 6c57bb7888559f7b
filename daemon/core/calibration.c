/* calibration.c - pooled variances, and what they mean for the rule. */
#include "core/calibration.h"

#include <math.h>

enum { FREEDOM_SOME = 5, FREEDOM_ENOUGH = 10 };

#define TAU0_FLOOR 0.0010
#define TAU0_CAP   0.0050
#define TAU0_RAISE 0.0035

void calibration_add(struct calibration *c, const struct launch_estimate *e, int n)
{
	double mean = 0;

	if (n < 2)
		return;
	for (int i = 0; i < n; i++)
		mean += e[i].d / n;
	for (int i = 0; i < n; i++) {
		c->squares += (e[i].d - mean) * (e[i].d - mean);
		c->variance += e[i].q;
	}
	c->launches += n;
	c->freedom += n - 1;
}

static double inside(const struct calibration *c)
{
	return c->launches > 0 ? c->variance / c->launches : 0;
}

double calibration_tau(const struct calibration *c)
{
	return c->freedom > 0 ? sqrt(fmax(0, c->squares / c->freedom - inside(c))) : 0;
}

double calibration_tau0(const struct calibration *c, double tau0)
{
	double tau = calibration_tau(c);

	if (c->freedom >= FREEDOM_ENOUGH)
		return fmin(TAU0_CAP, fmax(TAU0_FLOOR, tau));
	if (c->freedom >= FREEDOM_SOME && tau > TAU0_RAISE)
		return fmax(tau0, fmin(TAU0_CAP, tau));
	return tau0;
}

bool calibration_sees(const struct calibration *c, const struct rule *r, double theta, double *mde_pct)
{
	double tau0 = calibration_tau0(c, r->tau0);
	double tau = c->freedom >= FREEDOM_SOME ? calibration_tau(c) : tau0;
	double n = r->launches_max;
	double prior = tau0 * tau0 + inside(c), launch = tau * tau + inside(c);
	double se = sqrt((r->nu0 * prior + (n - 1) * launch) / (r->nu0 + n - 1) / n);

	*mde_pct = -100 * expm1(-(theta + r->k * se));
	return c->freedom < FREEDOM_SOME || (se <= r->se_max && r->k * se <= theta);
}
