/* calibration.c - pooled variances, and their effect on the rule. */
#include "stats/stats.h"

#include <math.h>

enum { FREEDOM_SOME = 5, FREEDOM_ENOUGH = 20, FREEDOM_NEWEST = 10, FREEDOM_KEPT = 40 };

#define NOISE_FLOOR 0.0001
#define NOISIER     3

void calibration_add(struct calibration *c, const struct run_estimate *e, int n)
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
	c->runs += n;
	c->freedom += n - 1;
}

static double inside(const struct calibration *c)
{
	return c->runs > 0 ? c->variance / c->runs : 0;
}

static void add_part(struct calibration *to, const struct calibration *part)
{
	to->runs += part->runs;
	to->freedom += part->freedom;
	to->squares += part->squares;
	to->variance += part->variance;
}

struct calibration calibration_pool(const struct calibration *part, int n)
{
	struct calibration newest = { 0 }, all = { 0 };

	for (int i = 0; i < n && newest.freedom < FREEDOM_NEWEST; i++)
		add_part(&newest, &part[i]);
	double most = NOISIER * fmax(NOISE_FLOOR, calibration_noise(&newest));

	for (int i = 0; i < n && all.freedom < FREEDOM_KEPT; i++)
		if (all.freedom < FREEDOM_NEWEST || calibration_noise(&part[i]) <= most)
			add_part(&all, &part[i]);
	return all;
}

double calibration_noise(const struct calibration *c)
{
	return c->freedom > 0 ? sqrt(c->squares / c->freedom) : 0;
}

bool calibration_learned(const struct calibration *c, double *tau0, double *nu0)
{
	if (c->freedom < FREEDOM_SOME)
		return false;
	*tau0 = fmax(NOISE_FLOOR, calibration_noise(c));
	*nu0 = c->freedom < FREEDOM_ENOUGH ? c->freedom : FREEDOM_ENOUGH;
	return true;
}

bool calibration_has_power(const struct calibration *c, const struct rule *r, double theta, double *mde_pct)
{
	double n = r->runs_max, tau0, nu0;
	bool learned = calibration_learned(c, &tau0, &nu0);
	double se = learned ? tau0 / sqrt(n) : sqrt((r->tau0 * r->tau0 + inside(c)) / n);

	*mde_pct = -100 * expm1(-(theta + r->k * se));
	return !learned || (se <= r->se_max && r->k * se <= theta);
}
