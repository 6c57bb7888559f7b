/*
 * stats.c - estimates and the sequential decision.
 *
 * The procedure: trimmed mean of pair log ratios per launch, the clock of each call as control variate, one moderated variance
 * over launches, and a three-way decision after each launch. Trimming is the only handling of outliers: nothing is ever
 * discarded by hand. Distribution functions are in stats_dist.c.
 */
#include "core/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MEDIAN_MAX = 4096 };

#define REST_SD                                                                                                                  \
	0.001 /* of y - beta z, and as how many pairs this counts: seen on an H200 for calls above 1 ms, 0.0001 to 0.002 */
#define REST_PRIOR 2

double rule_k(int n_cells)
{
	return n_cells <= 20 ? 3.5 : n_cells <= 60 ? 3.8 : 4.1;
}

void rule_default(struct rule *r, int n_cells)
{
	*r = (struct rule){
		.version = 2,
		.tau0 = 0.0025,
		.nu0 = 6,
		.k = rule_k(n_cells),
		.se_max = 0.0030,
		.launches_ok_min = 2,
		.launches_regression_min = 4,
		.launches_max = 12,
		.pairs_min = 4,
		.pairs_max = 32,
		.pair_budget_s = 0.4,
		.beta_min = -1.1,
		.half_width_dense_pct = 0.4,
		.half_width_sparse_pct = 0.6,
		.confirm = true,
	};
}

/*
 * Fewest pairs of a launch: pairs_min where the clock of each call is known, twice that where it is not. On recorded launches
 * without it, 4 pairs of the long calls find a 2 % slowdown in 85 of 100 comparisons and leave one in six without a word; 8
 * find 99.6 and leave none, in less device time, because fewer launches are needed (tests/bench_rule.c).
 */
static int fewest_pairs(const struct rule *r, bool clocked)
{
	int least = clocked ? r->pairs_min : 2 * r->pairs_min;

	return least < r->pairs_max ? least : r->pairs_max;
}

int stats_pairs(const struct rule *r, double pair_s, bool clocked)
{
	double wanted = pair_s > 0 ? r->pair_budget_s / pair_s : r->pairs_max;

	int n = (wanted < r->pairs_max ? (int)wanted : r->pairs_max) / 4 * 4, least = fewest_pairs(r, clocked);

	return n < least ? least : n;
}

double stats_theta(double threshold_pct)
{
	return -log1p(-threshold_pct / 100);
}

double stats_change_pct(double m)
{
	return 100 * expm1(-m) + 0.0; /* no change is 0, not -0 */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_trimmed(const double *y, int n, double *d, double *q)
{
	double sorted[STATS_PAIRS_MAX];

	if (n > STATS_PAIRS_MAX)
		n = STATS_PAIRS_MAX;
	memcpy(sorted, y, (size_t)n * sizeof *y);
	qsort(sorted, (size_t)n, sizeof *sorted, by_value);

	int g = n / 4, kept = n - 2 * g;
	double low = sorted[g], high = sorted[n - g - 1];
	double sum = 0, squares = 0;

	for (int i = g; i < n - g; i++)
		sum += sorted[i];
	double winsorised_mean = (sum + g * (low + high)) / n;

	for (int i = 0; i < n; i++) {
		double v = i < g ? low : i >= n - g ? high : sorted[i];

		squares += (v - winsorised_mean) * (v - winsorised_mean);
	}
	*d = sum / kept;
	*q = n > 1 ? squares / (n - 1) * n / ((double)kept * kept) : 0;
}

/* One cell's pairs as logarithms. */
struct logs {
	int launches;
	int n[STATS_LAUNCHES_MAX];
	double y[STATS_LAUNCHES_MAX][STATS_PAIRS_MAX], z[STATS_LAUNCHES_MAX][STATS_PAIRS_MAX];
	bool clocked; /* every call of every launch has its clock */
};

static void take_logs(const struct launch_pairs *launch, int n_launches, struct logs *l)
{
	l->launches = n_launches < STATS_LAUNCHES_MAX ? n_launches : STATS_LAUNCHES_MAX;
	l->clocked = true;
	for (int i = 0; i < l->launches; i++) {
		const struct launch_pairs *p = &launch[i];

		l->n[i] = p->n < STATS_PAIRS_MAX ? p->n : STATS_PAIRS_MAX;
		for (int j = 0; j < l->n[i]; j++) {
			bool clock = p->base_mhz && p->target_mhz && p->base_mhz[j] > 0 && p->target_mhz[j] > 0;

			l->y[i][j] = log((double)p->target_ms[j]) - log((double)p->base_ms[j]);
			l->z[i][j] = clock ? log((double)p->target_mhz[j]) - log((double)p->base_mhz[j]) : 0;
			l->clocked = l->clocked && clock;
		}
	}
}

static double mean_of(const double *v, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

/* What the pairs say about beta: their slope of y on z and its variance, together with what is known before. */
struct slope {
	double beta, variance;
};

/*
 * Least squares after the mean of each launch is taken from both, so that only movement inside launches counts, and a normal prior over
 * [beta_min, 0]: a kernel bound by arithmetic follows the clock, one bound by memory does not. Where all pairs of few launches saw
 * nearly the same two clocks the pairs cannot tell, and the prior's width is what stays in doubt.
 */
static struct slope fit_slope(const struct rule *r, const struct logs *l)
{
	double zz = 0, zy = 0, yy = 0;
	int freedom = 0;

	for (int i = 0; i < l->launches; i++) {
		double y_mean = mean_of(l->y[i], l->n[i]), z_mean = mean_of(l->z[i], l->n[i]);

		for (int j = 0; j < l->n[i]; j++) {
			double y = l->y[i][j] - y_mean, z = l->z[i][j] - z_mean;

			zz += z * z;
			zy += z * y;
			yy += y * y;
		}
		freedom += l->n[i] - 1;
	}
	double fitted = zz > 0 ? zy / zz : 0, rest = fmax(0, yy - fitted * zy);
	double noise = (rest + REST_PRIOR * REST_SD * REST_SD) / (fmax(0, freedom - 1) + REST_PRIOR);
	double prior = 4 / (r->beta_min * r->beta_min), weight = zz / noise; /* half of the range is a standard deviation */
	double beta = (weight * fitted + prior * r->beta_min / 2) / (weight + prior);

	return (struct slope){ fmin(0, fmax(r->beta_min, beta)), 1 / (weight + prior) };
}

void stats_launches(
	const struct rule *r, const struct launch_pairs *launch, int n_launches, struct launch_estimate *out, double *beta)
{
	struct logs l;
	struct slope slope = { 0, 0 };

	take_logs(launch, n_launches, &l);
	if (l.clocked && l.launches > 0 && r->beta_min < 0)
		slope = fit_slope(r, &l);
	for (int i = 0; i < l.launches; i++) {
		struct launch_estimate *e = &out[i];
		double v[STATS_PAIRS_MAX], z, q;

		*e = (struct launch_estimate){ .set = launch[i].set, .n = l.n[i] };
		stats_trimmed(l.y[i], l.n[i], &e->d_raw, &q);
		stats_trimmed(l.z[i], l.n[i], &z, &q);
		for (int j = 0; j < l.n[i]; j++)
			v[j] = l.y[i][j] - slope.beta * l.z[i][j];
		stats_trimmed(v, l.n[i], &e->d, &e->q);
		e->q += z * z * slope.variance;
	}
	*beta = slope.beta;
}

void stats_combine(const struct rule *r, const struct launch_estimate *e, int n, struct estimate *out)
{
	double d = 0, q = 0, raw = 0, scatter = 0;

	*out = (struct estimate){ .launches = n, .se = INFINITY, .ci_low = -INFINITY, .ci_high = INFINITY };
	if (n < 1)
		return;
	for (int i = 0; i < n; i++) {
		d += e[i].d;
		q += e[i].q;
		raw += e[i].d_raw;
		out->pairs += e[i].n;
	}
	out->m = d / n;
	out->m_raw = raw / n;
	for (int i = 0; i < n; i++)
		scatter += (e[i].d - out->m) * (e[i].d - out->m);

	double freedom = r->nu0 + n - 1;
	double v = (r->nu0 * (r->tau0 * r->tau0 + q / n) + scatter) / freedom;

	out->se = sqrt(v / n);
	double half = stats_t95(freedom) * out->se;

	out->ci_low = out->m - half;
	out->ci_high = out->m + half;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

enum decision stats_decide(const struct rule *r, double theta, const struct launch_estimate *e, int n, bool *borderline)
{
	struct estimate all;
	int slower = 0;

	*borderline = false;
	stats_combine(r, e, n, &all);
	for (int i = 0; i < n; i++)
		slower += e[i].d > theta / 2;
	if (n < 1)
		return DECISION_MORE;
	if (n >= smaller(r->launches_ok_min, r->launches_max) && all.m + r->k * all.se < theta)
		return DECISION_OK;
	if (n >= smaller(r->launches_regression_min, r->launches_max) && all.m - r->k * all.se > theta && 4 * slower >= 3 * n)
		return DECISION_REGRESSION;
	if (n < r->launches_max)
		return DECISION_MORE;
	/* A quick look has too few launches to flip a coin on. */
	if (all.se > r->se_max || r->launches_max < r->launches_regression_min)
		return DECISION_UNDECIDED;
	*borderline = true;
	return all.m > theta ? DECISION_REGRESSION : DECISION_OK;
}

double stats_mde_pct(const struct rule *r, double theta, const struct estimate *e)
{
	return -100 * expm1(-(theta + r->k * e->se));
}

double stats_median(const float *v, int n)
{
	double sorted[MEDIAN_MAX];

	if (n < 1)
		return 0;
	if (n > MEDIAN_MAX)
		n = MEDIAN_MAX;
	for (int i = 0; i < n; i++)
		sorted[i] = (double)v[i];
	qsort(sorted, (size_t)n, sizeof *sorted, by_value);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
