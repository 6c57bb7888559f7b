/*
 * stats.c - estimates and the sequential decision.
 *
 * The procedure: trimmed mean of pair log ratios per run, the clock of each call as control variate, one moderated variance over
 * runs, and a three-way decision after each run. Trimming is the only handling of outliers; no value is discarded in any other
 * way. Distribution functions are in distribution.c.
 */
#include "stats/stats.h"

#include <math.h>
#include <stddef.h>

/* ---- interval: Quantiles of a mixture of normals by bisection and Newton's steps. ---- */

enum { NODES_MAX = 64, STEPS_MAX = 60, DOUBLINGS_MAX = 60 };

#define STEP_MAX  0.7 /* between nodes, of the logarithm of the variance */
#define FADED     16  /* nodes with a density so far below the highest, in logarithms, add nothing */
#define OUTSIDE   0.025
#define PRECISION 1e-4 /* of the initial scale */

struct mixture {
	int n;
	double weight[NODES_MAX * INTERVAL_COMPONENTS_MAX], mean[NODES_MAX * INTERVAL_COMPONENTS_MAX],
		sd[NODES_MAX * INTERVAL_COMPONENTS_MAX];
};

/* Density of u = ln(chi-squared), up to a factor; maximal at ln(degrees). */
static double ln_density(double u, double degrees)
{
	return degrees / 2 * u - exp(u) / 2;
}

/* Student's t as a mixture of n normals around 0. Shape: weight, variance [NODES_MAX]. */
static int normals_of_t(double scale, double degrees, double *weight, double *variance)
{
	double step = fmin(STEP_MAX, sqrt(2 / degrees)), middle = log(degrees), highest = ln_density(middle, degrees), sum = 0;
	int n = 0;

	for (int side = -1; side <= 1; side += 2)
		for (int i = side > 0; n < NODES_MAX; i++) {
			double u = middle + side * i * step, below = ln_density(u, degrees) - highest;

			if (below < -FADED)
				break;
			weight[n] = exp(below);
			sum += weight[n];
			variance[n++] = scale * scale * degrees * exp(-u);
		}
	for (int i = 0; i < n; i++)
		weight[i] /= sum;
	return n;
}

/* No component is narrower than `least`, so that a component without width has a density. */
static void mix(struct mixture *m, double scale, double degrees, const struct normal_component *component, int n, double least)
{
	double weight[NODES_MAX], variance[NODES_MAX];
	int nodes = normals_of_t(scale, degrees, weight, variance);

	m->n = 0;
	for (int i = 0; i < n && i < INTERVAL_COMPONENTS_MAX; i++)
		for (int k = 0; k < nodes; k++) {
			m->weight[m->n] = component[i].weight * weight[k];
			m->mean[m->n] = component[i].mean;
			m->sd[m->n++] = fmax(sqrt(variance[k] + component[i].variance), least);
		}
}

/* P(sum < x) and the density there. */
static double below(const struct mixture *m, double x, double *density)
{
	double p = 0;

	*density = 0;
	for (int i = 0; i < m->n; i++) {
		double z = (x - m->mean[i]) / m->sd[i];

		p += m->weight[i] * 0.5 * erfc(-z * M_SQRT1_2);
		*density += m->weight[i] * exp(-z * z / 2) / (m->sd[i] * sqrt(2 * M_PI));
	}
	return p;
}

/* Newton's steps inside a shrinking bracket; a step that leaves it is replaced by bisection. */
static double quantile(const struct mixture *m, double p, double start, double scale)
{
	double low = start, high = start, density, x = start;

	for (int i = 0; i < DOUBLINGS_MAX && below(m, low, &density) > p; i++)
		low -= scale * ldexp(1, i);
	for (int i = 0; i < DOUBLINGS_MAX && below(m, high, &density) < p; i++)
		high += scale * ldexp(1, i);
	x = (low + high) / 2;
	for (int i = 0; i < STEPS_MAX && high - low > PRECISION * scale; i++) {
		double off = below(m, x, &density) - p, next = density > 0 ? x - off / density : low;

		if (off > 0)
			high = x;
		else
			low = x;
		if (fabs(next - x) < PRECISION * scale)
			return next;
		x = next > low && next < high ? next : (low + high) / 2;
	}
	return x;
}

void interval_95(double scale, double degrees, const struct normal_component *component, int n, double *low, double *high)
{
	struct mixture m;
	double mean = 0, square = scale * scale;

	for (int i = 0; i < n; i++)
		mean += component[i].weight * component[i].mean;
	for (int i = 0; i < n; i++)
		square += component[i].weight * (component[i].variance + (component[i].mean - mean) * (component[i].mean - mean));
	*low = *high = mean;
	if (!(square > 0))
		return;
	mix(&m, scale, degrees >= 1 ? degrees : 1, component, n, PRECISION * sqrt(square));
	*low = quantile(&m, OUTSIDE, mean, sqrt(square));
	*high = quantile(&m, 1 - OUTSIDE, mean, sqrt(square));
}

/* ---- stats ---- */

enum { MEDIAN_MAX = 4096, FITS = 3 };

#define REST_SD                                                                                                                  \
	0.001 /* noise of y - beta z, and its number of pairs: observed on an H200 for calls above 1 ms, 0.0001 to 0.002 */
#define REST_PRIOR  2
#define HOPE        0.67 /* share of the observed noise that remains if further runs are less noisy */
#define SIGN_THETA  5    /* least size of a threshold in standard errors, for a decision by sign: 5.04 at 1.5 % and se_max */
#define P_POOLED    0.01 /* probability of error of a change in pooled runs, at each of at most six analyses */
#define CLOCK_USUAL 1.1 /* factor on the usual effect of branches: above it runs may still show the cause of a clock difference */
#define FAR         8   /* standard deviations of a run's pairs; a clock change within a call has smaller effects */

double rule_k(int n_cells)
{
	return n_cells <= 20 ? 3.5 : n_cells <= 60 ? 3.8 : 4.1;
}

void rule_default(struct rule *r, int n_cells)
{
	*r = (struct rule){
		.version = 6,
		.tau0 = 0.0025,
		.tau0_clocked = 0.0005,
		.nu0 = 3,
		.placement = 0.0001,
		.k = rule_k(n_cells),
		.se_max = 0.0030,
		.runs_ok_min = 2,
		.runs_regression_min = 4,
		.runs_max = 12,
		.runs_pooled_max = 32,
		.pairs_min = 2,
		.pairs_max = 32,
		.pair_budget_s = 0.4,
		.pairs_short = 128,
		.short_budget_s = 0.02,
		.beta_min = -1.1,
		.half_width_dense_pct = 0.4,
		.half_width_sparse_pct = 0.6,
		.confirm = true,
		.p_interim = 1e-6,
		.cover = { { 0.001, 2 }, 0.0017, 0.03, 0.05 },
		.p_alone = 1e-5,
		.interim = { [PAIRING_MODULES] = { 0.0008, 6 },
			[PAIRING_INTERLEAVE] = { 0.004, 2 },
			[PAIRING_PROCESSES] = { 0.0025, 2 } },
	};
	clock_prior_default(&r->clock);
}

struct rule stats_rule_of_cell(const struct rule *general, double tau0, double nu0)
{
	struct rule r = *general;

	if (tau0 > 0) {
		r.tau0 = r.tau0_clocked = tau0;
		r.learned = nu0 > 0;
		r.nu0 = nu0 > 0 ? nu0 : r.nu0;
	}
	return r;
}

/*
 * Fewest pairs of a run: pairs_min if each call's clock is known, else four times that. On recorded runs with clocks, the mean of
 * two pairs of calls above 50 ms varies between runs by 0.03 %, and of four by 0.02 to 0.03 %. On those without clocks, 4 pairs
 * of the long calls find a 2 % slowdown in 85 of 100 comparisons and leave one in six undecided; 8 find 99.6 and leave none, in
 * less device time, because fewer runs are needed (tests/bench/bench_rule.c).
 */
static int fewest_pairs(const struct rule *r, bool clocked)
{
	int least = clocked ? r->pairs_min : 4 * r->pairs_min;

	return least < r->pairs_max ? least : r->pairs_max;
}

/* Number of pairs, up to `most`, that fit into `budget_s`: a multiple of 4. */
static int pairs_within(double budget_s, double pair_s, int most)
{
	double wanted = pair_s > 0 ? budget_s / pair_s : most;

	return (wanted < most ? (int)wanted : most) / 4 * 4;
}

/*
 * Pairs of 10 to 90 us calls are noisy by 3 to 6 %, and the mean of 4, 8, 16 or 32 of them varies by the root of that less, in
 * 279 runs on an H200 (tests/data/gpu/h200-2026-11-24-short-calls.jsonl): it is noise of calls, which more calls reduce, not of
 * the run.
 */
int stats_pairs(const struct rule *r, double pair_s, bool clocked, bool queued)
{
	int n = pairs_within(r->pair_budget_s, pair_s, r->pairs_max), least = fewest_pairs(r, clocked);
	int more = queued ? pairs_within(r->short_budget_s, pair_s, r->pairs_short) : 0;

	n = n < more ? more : n;
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

	int g = n / 4, n_middle = n - 2 * g;
	double low = sorted[g], high = sorted[n - g - 1];
	double sum = 0, squares = 0;

	for (int i = g; i < n - g; i++)
		sum += sorted[i];
	double winsorised_mean = (sum + g * (low + high)) / n;

	for (int i = 0; i < n; i++) {
		double v = i < g ? low : i >= n - g ? high : sorted[i];

		squares += (v - winsorised_mean) * (v - winsorised_mean);
	}
	*d = sum / n_middle;
	*q = n > 1 ? squares / (n - 1) * n / ((double)n_middle * n_middle) : 0;
}

struct logs {
	int runs;
	int n[STATS_RUNS_MAX];
	double y[STATS_RUNS_MAX][STATS_PAIRS_MAX], z[STATS_RUNS_MAX][STATS_PAIRS_MAX];
	bool clocked; /* every call of every run has its clock */
};

static void take_logs(const struct run_pairs *run, int n_runs, struct logs *l)
{
	l->runs = n_runs < STATS_RUNS_MAX ? n_runs : STATS_RUNS_MAX;
	l->clocked = true;
	for (int i = 0; i < l->runs; i++) {
		const struct run_pairs *p = &run[i];

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
		sum += v[i]; // take_logs fills n: NOLINT(clang-analyzer-core.uninitialized.Assign)
	return sum / n;
}

/* The slope beta of y on z from pairs and prior, and its variance. */
struct slope {
	double beta, variance;
};

/*
 * The pairs that are no outliers in their run for this slope: a call that is slow for another reason shows nothing of the
 * clock.
 */
static void keep_near(const struct logs *l, double beta, struct logs *out)
{
	double v[STATS_RUNS_MAX][STATS_PAIRS_MAX], middle[STATS_RUNS_MAX], q, variance = 0;

	for (int i = 0; i < l->runs; i++) {
		for (int j = 0; j < l->n[i]; j++)
			v[i][j] = l->y[i][j] - beta * l->z[i][j];
		stats_trimmed(v[i], l->n[i], &middle[i], &q);
		variance += q * l->n[i] / l->runs;
	}
	double far = FAR * sqrt(fmax(variance, REST_SD * REST_SD));

	out->runs = l->runs;
	out->clocked = l->clocked;
	memset(out->n, 0, sizeof out->n);
	for (int i = 0; i < l->runs; i++)
		for (int j = 0; j < l->n[i]; j++) {
			if (fabs(v[i][j] - middle[i]) > far)
				continue;
			out->y[i][out->n[i]] = l->y[i][j];
			out->z[i][out->n[i]++] = l->z[i][j];
		}
}

/*
 * Least squares on run-centred pairs, so that only movement within runs counts, and a normal prior over [beta_min, 0]: a kernel
 * bound by arithmetic follows the clock, one bound by memory does not. If all pairs of few runs had nearly the same two clocks,
 * the pairs cannot show it, and the prior's width remains.
 */
static struct slope least_squares(const struct rule *r, const struct logs *l)
{
	double zz = 0, zy = 0, yy = 0;
	int freedom = 0;

	for (int i = 0; i < l->runs; i++) {
		double y_mean = mean_of(l->y[i], l->n[i]), z_mean = mean_of(l->z[i], l->n[i]);

		for (int j = 0; j < l->n[i]; j++) {
			// take_logs fills them: NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
			double y = l->y[i][j] - y_mean, z = l->z[i][j] - z_mean;

			zz += z * z;
			zy += z * y;
			yy += y * y;
		}
		freedom += l->n[i] > 0 ? l->n[i] - 1 : 0;
	}
	double fitted = zz > 0 ? zy / zz : 0, rest = fmax(0, yy - fitted * zy);
	double noise = (rest + REST_PRIOR * REST_SD * REST_SD) / (fmax(0, freedom - 1) + REST_PRIOR);
	double prior = 4 / (r->beta_min * r->beta_min), weight = zz / noise; /* half of the range is a standard deviation */
	double beta = (weight * fitted + prior * r->beta_min / 2) / (weight + prior);

	return (struct slope){ fmin(0, fmax(r->beta_min, beta)), 1 / (weight + prior) };
}

static struct slope fit_slope(const struct rule *r, const struct logs *l)
{
	struct slope slope = { r->beta_min / 2, 0 };
	struct logs near;

	for (int i = 0; i < FITS; i++) {
		keep_near(l, slope.beta, &near);
		slope = least_squares(r, &near);
	}
	return slope;
}

void stats_runs(const struct rule *r, const struct run_pairs *run, int n_runs, struct run_estimate *out, double *beta)
{
	struct logs l;
	struct slope slope = { 0, 0 };

	take_logs(run, n_runs, &l);
	bool clocked = l.clocked && l.runs > 0 && r->beta_min < 0;
	if (clocked)
		slope = fit_slope(r, &l);
	for (int i = 0; i < l.runs; i++) {
		struct run_estimate *e = &out[i];
		double v[STATS_PAIRS_MAX], q;

		*e = (struct run_estimate){ .set = run[i].set, .n = l.n[i], .beta = slope.beta, .beta_q = slope.variance };
		stats_trimmed(l.y[i], l.n[i], &e->d_raw, &q);
		for (int j = 0; j < l.n[i]; j++)
			v[j] = l.y[i][j] - slope.beta * l.z[i][j];
		stats_trimmed(v, l.n[i], &e->d, &e->q);
		if (!clocked)
			continue;
		stats_trimmed(l.z[i], l.n[i], &e->z, &e->z_q);
		double wander = clock_wander(stats_median(run[i].base_ms, l.n[i]), l.n[i]);
		e->z_q += wander * wander;
	}
	*beta = slope.beta;
}

struct sums {
	double d, q, raw, z, z_q; /* means */
	double spread, z_noise;   /* squared distances from d and z */
	double beta, beta_q;
	int pairs; /* of the longest run */
	bool clocked;
};

static struct sums sum_up(const struct run_estimate *e, int n)
{
	struct sums s = { .beta = e[0].beta, .beta_q = e[0].beta_q, .clocked = true };

	for (int i = 0; i < n; i++) {
		s.d += e[i].d / n;
		s.q += e[i].q / n;
		s.raw += e[i].d_raw / n;
		s.z += e[i].z / n;
		s.z_q += e[i].z_q / n;
		s.clocked = s.clocked && e[i].z_q > 0;
		s.pairs = e[i].n > s.pairs ? e[i].n : s.pairs;
	}
	for (int i = 0; i < n; i++) {
		s.spread += (e[i].d - s.d) * (e[i].d - s.d);
		s.z_noise += (e[i].z - s.z) * (e[i].z - s.z);
	}
	return s;
}

static enum pairing_kind kind_of(const struct rule *r, int pairs)
{
	if (!r->programs)
		return PAIRING_MODULES;
	return pairs >= STATS_CALLS_MIN ? PAIRING_INTERLEAVE : PAIRING_PROCESSES;
}

enum pairing_kind stats_pairing_kind(const struct rule *r, const struct run_estimate *e, int n)
{
	int pairs = 0;

	for (int i = 0; i < n; i++)
		pairs = e[i].n > pairs ? e[i].n : pairs;
	return kind_of(r, pairs);
}

/*
 * Prior of a cell's runs. Each process has its own speed, which only more processes average: the noise of programs' runs
 * differs from that of modules in one process, with or without clocks.
 */
static struct run_prior prior_of(const struct rule *r, const struct sums *s)
{
	enum pairing_kind pairing = kind_of(r, s->pairs);

	if (!r->learned && r->p_interim > 0 && pairing != PAIRING_MODULES)
		return r->interim[pairing];
	/* the clock of a whole process explains only a share of the difference of processes: memory and order matter too */
	return (struct run_prior){ s->clocked && pairing != PAIRING_PROCESSES ? r->tau0_clocked : r->tau0, r->nu0 };
}

/*
 * Prior variance of a run's estimate. Learned noise is the total, and applies unless the pairs of this comparison are far
 * noisier: on recorded runs, drifting pairs show up to twice the variance of runs.
 */
static double prior_variance(const struct rule *r, const struct run_prior *prior, const struct sums *s)
{
	double square = prior->s0 * prior->s0;

	return r->learned ? fmax(square, s->q / 2) : square + s->q;
}

/* The branch's effect on the clock, as log ratios of clocks; `separate`: the difference of clocks in standard errors. */
static struct clock_component clock_of(const struct rule *r, const struct sums *s, int n, double *separate)
{
	double freedom = r->clock.nu + n - 1, se = sqrt((r->clock.nu * s->z_q + s->z_noise) / freedom / n);

	*separate = s->clocked ? fabs(s->z) / se : 0;
	return s->clocked ? clock_induced(&r->clock, s->z, se, freedom) : (struct clock_component){ 0 };
}

/*
 * Interval of a rule with its own priors: quantiles of Student's t of the code component plus the mixture of the clock
 * component. A normal distribution with that mixture's variance is too wide because of a few odd branches, while a usual branch
 * changes the clock of long calls by more, undetected, than decisions assume. `rest`: variance that no run reduces.
 */
static void cover(const struct rule *r, const struct sums *s, int n, double rest, struct estimate *out)
{
	struct rule wide = *r;
	struct run_prior prior = prior_of(r, s);
	double ignored;

	wide.clock.usual = r->cover.usual;
	wide.clock.odd = r->cover.odd;
	wide.clock.odd_share = r->cover.odd_share;
	if (!r->learned && kind_of(r, s->pairs) == PAIRING_MODULES)
		prior = r->cover.runs;
	struct clock_component clock = clock_of(&wide, s, n, &ignored);
	double freedom = prior.nu0 + n - 1, squares = prior.nu0 * prior_variance(r, &prior, s) + s->spread;
	double counted = n > r->runs_ok_min && freedom > 1 ? freedom - 1 : freedom;

	for (int i = 0; i < CLOCK_COMPONENTS; i++) {
		clock.component[i].mean *= s->beta;
		clock.component[i].variance *= s->beta * s->beta;
	}
	interval_95(sqrt(squares / counted / n + rest), counted, clock.component, CLOCK_COMPONENTS, &out->ci_low, &out->ci_high);
	out->ci_low += s->d;
	out->ci_high += s->d;
}

void stats_combine(const struct rule *r, const struct run_estimate *e, int n, struct estimate *out)
{
	*out = (struct estimate){
		.runs = n, .se = INFINITY, .se_code = INFINITY, .margin = INFINITY, .ci_low = -INFINITY, .ci_high = INFINITY
	};
	if (n < 1)
		return;
	struct sums s = sum_up(e, n);
	struct clock_component clock = clock_of(r, &s, n, &out->clock_separate);
	struct run_prior prior = prior_of(r, &s);
	double freedom = prior.nu0 + n - 1, squares = prior.nu0 * prior_variance(r, &prior, &s) + s.spread;
	double fixed = r->placement * r->placement, left = s.z - clock.induced; /* of the clocks, for beta to explain */

	for (int i = 0; i < n; i++)
		out->pairs += e[i].n;
	out->m_raw = s.raw;
	out->m_code = s.d;
	out->m = s.d + s.beta * clock.induced;
	out->m_separate = s.d + s.beta * s.z;
	out->se_clock = fabs(s.beta) * sqrt(clock.variance);
	out->se_code = sqrt(squares / freedom / n + s.z * s.z * s.beta_q + fixed);

	out->se_slope = fabs(left) * sqrt(s.beta_q);
	double sampled = sqrt(squares / freedom / n + left * left * s.beta_q + fixed);
	double counted = n > r->runs_ok_min && freedom > 1 ? freedom - 1 : freedom;
	double wide = sqrt(squares / counted / n + left * left * s.beta_q + fixed);
	double half = hypot(stats_t95(counted) * wide, 1.96 * out->se_clock);

	out->se = hypot(sampled, out->se_clock);
	out->margin_sampled = r->k * sampled;
	out->margin = hypot(out->margin_sampled, r->clock.k * out->se_clock);
	out->ci_low = out->m - half;
	out->ci_high = out->m + half;
	if (s.clocked && s.beta < 0 && r->cover.runs.nu0 > 0)
		cover(r, &s, n, left * left * s.beta_q + fixed, out);
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Runs have no more information: only the clock effect of any branch remains open. */
static bool only_clock_is_open(const struct rule *r, double limit, const struct estimate *e)
{
	return e->se_clock > 0 && e->se_clock <= CLOCK_USUAL * r->clock.usual && fabs(e->m - limit) > e->margin_sampled;
}

bool stats_excludes_slowdown(const struct rule *r, double theta, const struct estimate *e)
{
	return e->runs >= smaller(r->runs_ok_min, r->runs_max) && e->m + e->margin < theta;
}

/* Number of runs with more than half of the threshold, in the direction `sign`: 1 a slowdown, -1 a gain. */
static int showing(double theta, const struct run_estimate *e, int n, const struct estimate *all, int sign)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		count += sign * (e[i].d + (all->m - all->m_code)) > theta / 2;
	return count;
}

/* Beyond the threshold by the margin of a decision, with three in four runs in agreement. */
static bool is_beyond(
	const struct rule *r, double theta, const struct run_estimate *e, int n, const struct estimate *all, int sign)
{
	return n >= smaller(r->runs_regression_min, r->runs_max) && sign * all->m - all->margin > theta &&
	       4 * showing(theta, e, n, all, sign) >= 3 * n;
}

/* No regression, but possibly an improvement: most of one is visible, and the margin reaches beyond its threshold. */
static bool gain_is_open(const struct rule *r, double theta, const struct estimate *all)
{
	return r->p_interim > 0 && all->m < -theta / 2 && all->m - all->margin < -theta;
}

double stats_se_max(const struct rule *r, double theta)
{
	return fmin(r->se_max, theta / SIGN_THETA);
}

enum decision stats_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool *borderline)
{
	struct estimate all;

	*borderline = false;
	stats_combine(r, e, n, &all);
	if (n < 1)
		return DECISION_MORE;
	bool excluded = stats_excludes_slowdown(r, theta, &all), gains = gain_is_open(r, theta, &all);

	if (excluded && !gains)
		return DECISION_OK;
	if (is_beyond(r, theta, e, n, &all, 1))
		return DECISION_REGRESSION;
	if (gains && is_beyond(r, theta, e, n, &all, -1))
		return DECISION_IMPROVEMENT;
	int least = r->runs_ok_min > r->runs_regression_min ? r->runs_ok_min : r->runs_regression_min;

	if (n < r->runs_max && !(n >= least && only_clock_is_open(r, excluded ? -theta : theta, &all)))
		return DECISION_MORE;
	/* A quick job has too few runs to decide by sign. */
	if (all.se > stats_se_max(r, theta) || r->runs_max < r->runs_regression_min)
		return excluded ? DECISION_OK : DECISION_UNDECIDED;
	*borderline = true;
	if (all.m > theta)
		return DECISION_REGRESSION;
	return gains && all.m < -theta ? DECISION_IMPROVEMENT : DECISION_OK;
}

bool stats_pools(const struct rule *r, double theta)
{
	return stats_se_max(r, theta) < r->se_max && r->runs_max >= r->runs_regression_min && r->confirm && !r->programs &&
	       r->runs_pooled_max > 0;
}

enum decision stats_decide_pooled(const struct rule *r, double theta, const struct run_estimate *e, int n)
{
	struct estimate all;
	struct interim l;

	stats_combine(r, e, n, &all);
	interim_estimate(r, theta, e, n, &l);
	bool excluded = stats_excludes_slowdown(r, theta, &all), gains = gain_is_open(r, theta, &all);

	if (excluded && !gains)
		return DECISION_OK;
	if (is_beyond(r, theta, e, n, &all, 1) && l.p_slower < P_POOLED)
		return DECISION_REGRESSION;
	if (gains && is_beyond(r, theta, e, n, &all, -1) && l.p_faster < P_POOLED)
		return DECISION_IMPROVEMENT;
	double least = HOPE * all.margin * sqrt((double)n / r->runs_pooled_max); /* of the last analysis */

	return n < r->runs_pooled_max && fabs(all.m - (excluded ? -theta : theta)) > least ? DECISION_MORE : DECISION_UNDECIDED;
}

bool stats_is_hopeless(const struct rule *r, double theta, const struct run_estimate *e, int n, double *se)
{
	struct estimate all;

	stats_combine(r, e, n, &all);
	*se = n > 0 ? all.se * sqrt((double)n / r->runs_max) : 0;

	double least = HOPE * *se;

	return n > 0 && n < r->runs_max && least > r->se_max && fabs(all.m - theta) < r->k * least;
}

enum stats_outlook stats_outlook(const struct rule *r, double theta, const struct run_estimate *e, int n, double *least)
{
	double se;
	bool is_hopeless = stats_is_hopeless(r, theta, e, n, &se);

	*least = HOPE * se;
	if (is_hopeless)
		return STATS_HOPELESS;
	return n > 0 && n<r->runs_max && * least> r->se_max ? STATS_LARGE_ONLY : STATS_MAY_DECIDE;
}

double stats_mde_pct(double theta, const struct estimate *e)
{
	return -100 * expm1(-(theta + e->margin));
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
