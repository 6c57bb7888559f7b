/* interim.c - see interim.h. */
#include "core/stats/interim.h"

#include <math.h>
#include <stddef.h>

static const int looks[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32 };

/* What is known before of launches like these; `whole`: of their whole scatter, not beside what pairs say. */
static struct launch_prior prior_of(const struct rule *r, const struct launch_estimate *e, int n)
{
	enum pairing_kind pairing = stats_pairing_kind(r, e, n);
	bool is_clocked = true;

	for (int i = 0; i < n; i++)
		is_clocked = is_clocked && e[i].z_q > 0;
	if (r->learned || (pairing == PAIRING_MODULES && !is_clocked))
		return (struct launch_prior){ r->tau0, r->nu0 };
	return r->look[pairing];
}

/* The moderated variance of one launch. */
static double variance_of(const struct rule *r, const struct launch_prior *prior, const struct launch_estimate *e, int n)
{
	double mean = 0, q = 0, squares = 0, before = prior->s0 * prior->s0;

	for (int i = 0; i < n; i++) {
		mean += e[i].d / n;
		q += e[i].q / n;
	}
	for (int i = 0; i < n; i++)
		squares += (e[i].d - mean) * (e[i].d - mean);
	before = r->learned ? fmax(before, q / 2) : before + q;
	return fmax((prior->nu0 * before + squares) / (prior->nu0 + n - 1), q);
}

void interim_look(const struct rule *r, double theta, const struct launch_estimate *e, int n, struct interim *out)
{
	struct estimate all;

	*out = (struct interim){ .se = INFINITY, .p_loss = 1, .p_gain = 1 };
	if (n < 1)
		return;
	stats_combine(r, e, n, &all);
	struct launch_prior prior = prior_of(r, e, n);
	double sampled = variance_of(r, &prior, e, n) / n, slope = all.se_slope, clock = all.se_clock;

	out->m = all.m;
	out->se = sqrt(sampled + r->placement * r->placement + slope * slope + clock * clock);
	out->degrees = prior.nu0 + n - 1;
	out->p_loss = stats_t_tail((out->m - theta) / out->se, out->degrees);
	out->p_gain = stats_t_tail((-out->m - theta) / out->se, out->degrees);
}

/* The launches of the last look at or before the n-th; 0 none. */
static int looked_at(int n)
{
	int last = 0;

	for (size_t i = 0; i < sizeof looks / sizeof looks[0] && looks[i] <= n; i++)
		last = looks[i];
	return last;
}

enum decision interim_decide(const struct rule *r, double theta, const struct launch_estimate *e, int n, bool is_over)
{
	int at = is_over ? n : looked_at(n), least = r->launches_ok_min > looks[0] ? r->launches_ok_min : looks[0];
	struct interim l;

	if (r->programs && least < INTERIM_PROGRAMS_MIN)
		least = INTERIM_PROGRAMS_MIN;
	if (!(r->p_look > 0) || at < least)
		return DECISION_MORE;
	interim_look(r, theta, e, at, &l);
	if (l.p_loss < r->p_look)
		return DECISION_REGRESSION;
	if (l.p_gain < r->p_look)
		return DECISION_IMPROVEMENT;
	return r->programs && 1 - l.p_loss < r->p_look && 1 - l.p_gain < r->p_look ? DECISION_OK : DECISION_MORE;
}

/* What every second launch shows, from `first` on, by the margin of a decision. */
static enum decision half_shows(const struct rule *r, double theta, const struct launch_estimate *e, int n, int first)
{
	struct launch_estimate half[STATS_LAUNCHES_MAX];
	struct estimate all;
	int count = 0;

	for (int i = first; i < n; i += 2)
		half[count++] = e[i];
	stats_combine(r, half, count, &all);
	if (count < r->launches_regression_min)
		return DECISION_UNDECIDED;
	if (all.m - all.margin > theta)
		return DECISION_REGRESSION;
	return all.m + all.margin < -theta ? DECISION_IMPROVEMENT : DECISION_UNDECIDED;
}

enum decision interim_last(const struct rule *r, double theta, const struct launch_estimate *e, int n)
{
	enum decision shown = DECISION_UNDECIDED;
	struct estimate all;

	stats_combine(r, e, n, &all);
	if (n < INTERIM_PROGRAMS_MIN)
		return DECISION_UNDECIDED;
	if (all.ci_low > theta)
		shown = DECISION_REGRESSION;
	else if (all.ci_high < -theta)
		shown = DECISION_IMPROVEMENT;
	else if (all.ci_high < theta)
		return DECISION_OK;
	if (all.se > r->se_max && (half_shows(r, theta, e, n, 0) != shown || half_shows(r, theta, e, n, 1) != shown))
		return DECISION_UNDECIDED;
	return shown;
}
