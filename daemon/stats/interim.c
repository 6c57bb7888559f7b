/* interim.c - moderated and plain t tests at interim analyses. */
#include "stats/stats.h"

#include <math.h>
#include <stddef.h>

#define P_LAST 1e-4 /* required of a change that varies too much, or has too few runs, for its interval */
#define P_LEFT 0.01 /* the same of a remaining slowdown */

enum { INTERVAL_MIN = 6 }; /* from this number of runs on, their noise is no coincidence */

static const int analyses[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32 };

static bool is_expected(const struct rule *r, const struct run_estimate *e, int n)
{
	bool is_clocked = true;

	for (int i = 0; i < n; i++)
		is_clocked = is_clocked && e[i].z_q > 0;
	return r->learned || (is_clocked && !r->programs);
}

static struct run_prior prior_of(const struct rule *r, const struct run_estimate *e, int n)
{
	enum pairing_kind pairing = stats_pairing_kind(r, e, n);

	if (r->learned || (pairing == PAIRING_MODULES && !is_expected(r, e, n)))
		return (struct run_prior){ r->tau0, r->nu0 };
	return r->interim[pairing];
}

/* Mean q of runs, and squared distances from the mean of d. */
static double squares_of(const struct run_estimate *e, int n, double *q)
{
	double mean = 0, squares = 0;

	*q = 0;
	for (int i = 0; i < n; i++) {
		mean += e[i].d / n;
		*q += e[i].q / n;
	}
	for (int i = 0; i < n; i++)
		squares += (e[i].d - mean) * (e[i].d - mean);
	return squares;
}

void interim_estimate(const struct rule *r, double theta, const struct run_estimate *e, int n, struct interim *out)
{
	struct estimate all;
	double q;

	*out = (struct interim){ .se = INFINITY, .p_slower = 1, .p_faster = 1, .p_slower_alone = 1, .p_faster_alone = 1 };
	if (n < 1)
		return;
	stats_combine(r, e, n, &all);
	struct run_prior prior = prior_of(r, e, n);
	double squares = squares_of(e, n, &q), s0 = prior.s0 * prior.s0, before = r->learned ? fmax(s0, q / 2) : s0 + q;
	double variance = fmax((prior.nu0 * before + squares) / (prior.nu0 + n - 1), q);
	double fixed = r->placement * r->placement + all.se_slope * all.se_slope + all.se_clock * all.se_clock;

	out->m = all.m;
	out->se = sqrt(variance / n + fixed);
	out->degrees = prior.nu0 + n - 1;
	out->p_slower = stats_t_tail((out->m - theta) / out->se, out->degrees);
	out->p_faster = stats_t_tail((-out->m - theta) / out->se, out->degrees);
	if (n < 2)
		return;
	double alone = sqrt(fmax(squares / (n - 1), q) / n + fixed);

	out->p_slower_alone = stats_t_tail((out->m - theta) / alone, n - 1);
	out->p_faster_alone = stats_t_tail((-out->m - theta) / alone, n - 1);
}

int interim_last_analysis(int n)
{
	int last = 0;

	for (size_t i = 0; i < sizeof analyses / sizeof analyses[0] && analyses[i] <= n; i++)
		last = analyses[i];
	return last;
}

enum decision interim_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool is_over)
{
	int at = is_over ? n : interim_last_analysis(n), least = r->runs_ok_min > analyses[0] ? r->runs_ok_min : analyses[0];
	struct interim l;

	if (r->programs && least < INTERIM_PROGRAMS_MIN)
		least = INTERIM_PROGRAMS_MIN;
	if (!(r->p_interim > 0) || at < least)
		return DECISION_MORE;
	interim_estimate(r, theta, e, at, &l);
	double p_alone = is_expected(r, e, at) ? 1 : r->p_alone;

	if (l.p_slower < r->p_interim && l.p_slower_alone <= p_alone)
		return DECISION_REGRESSION;
	if (l.p_faster < r->p_interim && l.p_faster_alone <= p_alone)
		return DECISION_IMPROVEMENT;
	bool no_slowdown = 1 - l.p_slower < r->p_interim && 1 - l.p_slower_alone <= p_alone;
	bool no_gain = 1 - l.p_faster < r->p_interim && 1 - l.p_faster_alone <= p_alone;

	return r->programs && no_slowdown && no_gain ? DECISION_OK : DECISION_MORE;
}

enum decision interim_last(const struct rule *r, double theta, const struct run_estimate *e, int n)
{
	struct estimate all;
	struct interim l;

	stats_combine(r, e, n, &all);
	interim_estimate(r, theta, e, n, &l);
	bool is_close = all.se <= r->se_max && n >= INTERVAL_MIN;

	if (n < INTERIM_PROGRAMS_MIN)
		return DECISION_UNDECIDED;
	if (all.ci_low > theta)
		return is_close || l.p_slower_alone < P_LAST ? DECISION_REGRESSION : DECISION_UNDECIDED;
	if (all.ci_high < -theta)
		return is_close || l.p_faster_alone < P_LAST ? DECISION_IMPROVEMENT : DECISION_UNDECIDED;
	return all.ci_high < theta && (is_close || 1 - l.p_slower_alone < P_LEFT) ? DECISION_OK : DECISION_UNDECIDED;
}
