/* Estimates compared with values computed by hand, and the clock as control variate. */
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"

static void constants(void **state)
{
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	near(r.k, 3.5, 0);
	near(r.tau0, 0.0025, 0);
	assert_int_equal(r.runs_max, 12);
	assert_int_equal(r.runs_pooled_max, 32);
	assert_true(r.confirm);
	rule_default(&r, 21);
	near(r.k, 3.8, 0);
	rule_default(&r, 60);
	near(r.k, 3.8, 0);
	rule_default(&r, 61);
	near(r.k, 4.1, 0);
	near(stats_theta(1.5), 0.0151136, 5e-8);
	near(stats_change_pct(stats_theta(1.5)), -1.5, 1e-12);
	near(stats_change_pct(0), 0, 0);
	assert_false(signbit(stats_change_pct(0)));
	near(stats_change_pct(-log(1.02)), 2, 1e-12);
}

/* A stored verdict names the version of its rule, so other numbers need another version. */
static void numbers_of_version_6(void **state)
{
	struct rule r;
	struct clock_prior *clock = &r.clock;

	(void)state;
	rule_default(&r, 20);
	assert_int_equal(r.version, 6);
	near(r.tau0_clocked, 0.0005, 0);
	near(r.nu0, 3, 0);
	near(r.placement, 0.0001, 0);
	near(r.se_max, 0.003, 0);
	assert_int_equal(r.runs_ok_min, 2);
	assert_int_equal(r.runs_regression_min, 4);
	assert_int_equal(r.pairs_min, 2);
	assert_int_equal(r.pairs_max, 32);
	near(r.pair_budget_s, 0.4, 0);
	assert_int_equal(r.pairs_short, 128);
	near(r.short_budget_s, 0.02, 0);
	near(r.beta_min, -1.1, 0);
	near(r.half_width_dense_pct, 0.4, 0);
	near(r.half_width_sparse_pct, 0.6, 0);
	near(r.p_interim, 1e-6, 0);
	near(r.p_alone, 1e-5, 0);
	near(r.cover.runs.s0, 0.001, 0);
	near(r.cover.runs.nu0, 2, 0);
	near(r.cover.usual, 0.0017, 0);
	near(r.cover.odd, 0.03, 0);
	near(r.cover.odd_share, 0.05, 0);
	near(r.interim[PAIRING_MODULES].s0, 0.0008, 0);
	near(r.interim[PAIRING_MODULES].nu0, 6, 0);
	near(r.interim[PAIRING_INTERLEAVE].s0, 0.004, 0);
	near(r.interim[PAIRING_INTERLEAVE].nu0, 2, 0);
	near(r.interim[PAIRING_PROCESSES].s0, 0.0025, 0);
	near(r.interim[PAIRING_PROCESSES].nu0, 2, 0);
	near(clock->usual, 0.0015, 0);
	near(clock->odd, 0.03, 0);
	near(clock->odd_share, 0.01, 0);
	near(clock->nu, 4, 0);
	near(clock->k, 2, 0);
	near(clock_wander(10, 4), 0.005, 1e-15);
	near(clock_wander(10, 0), 0.02, 0); /* at most 2 % */
	near(clock_wander(-1, 4), 0, 0);
}

static void pairs_follow_the_length(void **state)
{
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	assert_int_equal(stats_pairs(&r, 0.2, true, false), 2); /* a 100 ms call */
	assert_int_equal(stats_pairs(&r, 0.101, true, false), 2);
	assert_int_equal(stats_pairs(&r, 0.1, true, false), 4);
	assert_int_equal(stats_pairs(&r, 0.04, true, false), 8); /* 10 pairs fit: rounded down to a multiple of 4 */
	assert_int_equal(stats_pairs(&r, 0.02, true, false), 20);
	assert_int_equal(stats_pairs(&r, 0.001, true, false), 32);
	assert_int_equal(stats_pairs(&r, 1e-9, true, false), 32);
	assert_int_equal(stats_pairs(&r, 0, true, false), 32);
	assert_int_equal(stats_pairs(&r, 1000, true, false), 2);
	assert_int_equal(stats_pairs(&r, 1000, false, false), 8);  /* no clock to correct for: more pairs instead */
	assert_int_equal(stats_pairs(&r, 50e-6, true, true), 128); /* short calls on a queue: their noise has to be removed */
	assert_int_equal(stats_pairs(&r, 170e-6, true, true), 116);
	assert_int_equal(stats_pairs(&r, 900e-6, true, true), 32);
	assert_int_equal(stats_pairs(&r, 0.2, true, true), 2);
	r.pairs_short = 0; /* a rule without them */
	assert_int_equal(stats_pairs(&r, 50e-6, true, true), 32);
	r.pairs_max = 6;
	assert_int_equal(stats_pairs(&r, 1000, false, false), 6);
}

static void trimmed_by_hand(void **state)
{
	const double eight[] = { 8, 3, 1, 6, 2, 5, 7, 4 };
	const double wild[] = { 3, 4, 5, 6, -1e9, 1e9, -7, 7e5 }; /* the outer two on each side do not matter */
	const double five[] = { 1, 2, 3, 4, 100 };
	double d, q;

	(void)state;
	stats_trimmed(eight, 8, &d, &q);
	near(d, 4.5, 1e-15);
	near(q, 1.0, 1e-15); /* winsorised 3 3 3 4 5 6 6 6: 14 / 7 * 8 / 16 */
	stats_trimmed(wild, 8, &d, &q);
	near(d, 4.5, 1e-15);
	near(q, 1.0, 1e-15);
	stats_trimmed(five, 5, &d, &q);
	near(d, 3, 1e-15);
	near(q, 4.0 / 4 * 5 / 9, 1e-15); /* winsorised 2 2 3 4 4 */
	stats_trimmed(eight, 2, &d, &q);
	near(d, 5.5, 1e-15);
	near(q, 12.5 * 2 / 4, 1e-12); /* nothing trimmed: the usual variance of a mean */
	stats_trimmed(eight, 1, &d, &q);
	near(d, 8, 0);
	near(q, 0, 0);
}

static void combined_by_hand(void **state)
{
	const struct run_estimate e[] = {
		{ .set = 1, .n = 8, .d = 0.01, .q = 1e-6, .d_raw = 0.012 },
		{ .set = 1, .n = 16, .d = 0.02, .q = 3e-6, .d_raw = 0.022 },
	};
	struct estimate all;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	r.placement = 0;
	stats_combine(&r, e, 2, &all);
	/* v = (3 (0.0025^2 + 2e-6) + 5e-5) / 4 */
	double v = (3 * (6.25e-6 + 2e-6) + 5e-5) / 4;
	near(all.m, 0.015, 1e-15);
	near(all.m_code, 0.015, 1e-15);
	near(all.se_clock, 0, 0);
	near(all.m_raw, 0.017, 1e-15);
	near(all.se, sqrt(v / 2), 1e-12);
	near(all.ci_low, 0.015 - 2.776445105 * all.se, 1e-10);
	near(all.ci_high, 0.015 + 2.776445105 * all.se, 1e-10);
	assert_int_equal(all.runs, 2);
	assert_int_equal(all.pairs, 24);
	near(stats_mde_pct(stats_theta(1.5), &all), 100 * (1 - 0.985 * exp(-3.5 * all.se)), 1e-9);
	/* two copies of one module never agree better than their placement does */
	r.placement = 0.001;
	stats_combine(&r, e, 2, &all);
	near(all.se, sqrt(v / 2 + 1e-6), 1e-12);
	stats_combine(&r, e, 0, &all);
	assert_true(isinf(all.se));
	near(all.m, 0, 0);
	assert_int_equal(all.runs, 0);
	near(stats_mde_pct(stats_theta(1.5), &all), 100, 0);
}

/* A third run was requested because two were too wide: the error rate accounts for that interim analysis at the width. */
static void stopping_by_width_is_paid_for(void **state)
{
	const struct run_estimate e[] = { { .set = 1, .n = 8, .d = 0.01 }, { .set = 1, .n = 8, .d = 0.02 },
		{ .set = 1, .n = 8, .d = 0.03 } };
	struct estimate all;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	r.placement = 0;
	stats_combine(&r, e, 3, &all);
	double squares = 3 * 6.25e-6 + 2e-4;
	near(all.se, sqrt(squares / 5 / 3), 1e-12);
	near(all.ci_high - all.m, 2.776445105 * sqrt(squares / 4 / 3), 1e-10);
}

/* The learned noise of a cell is its whole noise, unless its pairs show far more this time. */
static void learned_noise(void **state)
{
	struct run_estimate e[] = { { .set = 1, .n = 8, .d = 0.01, .q = 1e-6 }, { .set = 1, .n = 8, .d = 0.01, .q = 1e-6 } };
	struct estimate all;
	struct rule general, r;

	(void)state;
	rule_default(&general, 20);
	general.placement = 0;
	r = stats_rule_of_cell(&general, 0, 0);
	assert_memory_equal(&r, &general, sizeof r);
	r = stats_rule_of_cell(&general, 0.004, 0); /* of an older result: a prior combined with the pairs */
	stats_combine(&r, e, 2, &all);
	near(all.se, sqrt(3 * (1.6e-5 + 1e-6) / 4 / 2), 1e-12);
	r = stats_rule_of_cell(&general, 0.004, 15);
	stats_combine(&r, e, 2, &all);
	near(all.se, sqrt(15 * 1.6e-5 / 16 / 2), 1e-12);
	near(all.ci_high - all.m, 2.119905299 * all.se, 1e-10);
	e[0].q = e[1].q = 8e-5;
	stats_combine(&r, e, 2, &all);
	near(all.se, sqrt(15 * 4e-5 / 16 / 2), 1e-12);
}

static struct run_estimate with_clock(double d, double z, double z_sd)
{
	return (struct run_estimate){ .set = 1, .n = 32, .d = d, .d_raw = d - z, .z = z, .z_q = z_sd * z_sd, .beta = -1 };
}

/* The branch's effect on the clock belongs to the change, as far as it can be distinguished from normal variation of clocks. */
static void clock_is_a_component_of_the_change(void **state)
{
	struct run_estimate e[4];
	struct estimate all;
	struct rule r;
	bool borderline;

	(void)state;
	rule_default(&r, 20);
	/* a regression of 7 % at equal clocks, and a clock that is 0.9 % higher in every run */
	for (int i = 0; i < 4; i++)
		e[i] = with_clock(0.07, 0.009 + 0.0002 * (i % 2), 0.0004);
	stats_combine(&r, e, 4, &all);
	near(all.m_code, 0.07, 1e-12);
	near(all.m, 0.0609, 0.0002);
	assert_true(all.se_clock < 0.0004);
	/* the same clocks by chance: runs that vary by 3 % show nothing */
	for (int i = 0; i < 4; i++)
		e[i] = with_clock(0.07, 0.009 + (i % 2 ? 0.03 : -0.03), 0.03);
	stats_combine(&r, e, 4, &all);
	near(all.m, 0.07, 0.0005);
	near(all.se_clock, 0.0015, 0.0005); /* the usual effect of branches stays uncertain */
	/* a regression that comes with an equally lower clock is a regression */
	for (int i = 0; i < 4; i++)
		e[i] = with_clock(0, -0.0202, 0.0004);
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 4, &borderline), DECISION_REGRESSION);
	stats_combine(&r, e, 4, &all);
	near(all.m, 0.0202, 0.0002);
	assert_true(all.clock_separate > 20);
	near(all.m_separate, 0.0202, 1e-9);
}

/* Whether the branch makes clocks of long calls differ cannot be determined early: the interval includes both, and runs
 * continue. */
static void clocks_that_may_be_either(void **state)
{
	struct run_estimate e[2] = { with_clock(0, -0.022, 0.007), with_clock(0, -0.024, 0.007) };
	struct estimate all;
	struct rule r;
	bool borderline;

	(void)state;
	rule_default(&r, 20);
	stats_combine(&r, e, 2, &all);
	assert_true(all.ci_low < 0.001 && all.ci_high > 0.0202);
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 2, &borderline), DECISION_MORE);
}

/* Long calls whose clocks show nothing in two runs: the interval covers a branch that moves the clock by 0.3 %, without an effect
 * on the decision. */
static void interval_of_a_clock_that_is_not_seen(void **state)
{
	struct run_estimate e[2] = { with_clock(0, 0.001, 0.015), with_clock(0, -0.001, 0.015) };
	struct estimate now, before;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	stats_combine(&r, e, 2, &now);
	assert_true(now.ci_low < -0.0035 && now.ci_high > 0.0035);
	assert_true(now.ci_high < 0.006); /* except for the few unusual branches */
	r.cover = (struct cover_prior){ .odd = 0 };
	stats_combine(&r, e, 2, &before);
	assert_true(before.ci_high < 0.0035);
	near(before.m, now.m, 0);
	near(before.margin, now.margin, 0);
}

/* Copies of one module differ, and no number of runs reduces that: the interval is never narrower than this difference. */
static void interval_of_copies_that_differ(void **state)
{
	struct run_estimate e[12];
	struct estimate all;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 12; i++)
		e[i] = with_clock(0, 0, 0.0001);
	stats_combine(&r, e, 12, &all);
	assert_true(all.ci_high - all.ci_low < 2 * 1.96 * 0.002);
	r.placement = 0.002;
	stats_combine(&r, e, 12, &all);
	assert_true(all.ci_high - all.ci_low > 2 * 1.96 * 0.002);
	near(all.ci_high + all.ci_low, 0, 1e-6);
}

/* A clock that is lower in every run, by some of its standard errors: the interval includes the possible regression, and is not
 * symmetric. */
static void interval_of_a_clock_that_may_be_lower(void **state)
{
	struct run_estimate e[2] = { with_clock(0, -0.024, 0.01), with_clock(0, -0.016, 0.01) };
	struct estimate all;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	stats_combine(&r, e, 2, &all);
	assert_true(all.ci_low < 0 && all.ci_high > 0.02);
	assert_true(all.ci_high - all.m > 2 * (all.m - all.ci_low));
}

static void quantiles_of_t(void **state)
{
	(void)state;
	near(stats_t95(1), 12.706204736, 1e-7);
	near(stats_t95(2), 4.302652730, 1e-8);
	near(stats_t95(5), 2.570581836, 1e-8);
	near(stats_t95(7), 2.364624252, 1e-8);
	near(stats_t95(17), 2.109815578, 1e-8);
	near(stats_t95(30), 2.042272456, 1e-8);
	near(stats_t95(1e6), 1.959966, 1e-5);
	near(stats_t_density(0, 1, 1), 0.318309886, 1e-8);
	near(stats_t_density(2, 1, 5), 0.065090310, 1e-8);
	near(stats_t_density(0.4, 0.2, 5), 0.065090310 / 0.2, 1e-7);
	assert_true(stats_t95(6.5) < stats_t95(6) && stats_t95(6.5) > stats_t95(7));
	near(stats_t95(0), stats_t95(1), 0);
}

static void fisher(void **state)
{
	(void)state;
	near(stats_fisher(1, 4, 3, 4), 17.0 / 70, 1e-12); /* the lady tasting tea */
	near(stats_fisher(0, 10, 0, 10), 1, 1e-12);
	near(stats_fisher(5, 10, 0, 10), 1, 1e-12);
	near(stats_fisher(0, 5, 5, 5), 1.0 / 252, 1e-12);
}

static void medians(void **state)
{
	const float odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 };

	(void)state;
	near(stats_median(odd, 3), 2, 0);
	near(stats_median(even, 4), 2.5, 0);
	near(stats_median(odd, 1), 3, 0);
	near(stats_median(odd, 0), 0, 0);
	near((double)odd[0], 3, 0); /* not sorted in place */
}

enum { PAIRS = 16 };

static void estimate_cell(struct noise *n, double shift, int runs, int pairs, struct run_estimate *e, double *beta)
{
	static struct noise_run data[STATS_RUNS_MAX];
	struct run_pairs p[STATS_RUNS_MAX];
	struct rule r;

	rule_default(&r, 20);
	for (int i = 0; i < runs; i++)
		noise_pairs(n, shift, pairs, 1, &data[i], &p[i]);
	stats_runs(&r, p, runs, e, beta);
}

static void clock_is_taken_out(void **state)
{
	struct noise n = { .state = 1, .white = 0.0005, .clock = 0.006, .run = 0.0002, .outlier = 0 };
	struct run_estimate e[6];
	double beta, ratio = 0, adjusted = 0, raw = 0;

	(void)state;
	for (int cell = 0; cell < 50; cell++) {
		estimate_cell(&n, 0.01, 6, PAIRS, e, &beta);
		near(beta, -1, 0.1);
		for (int i = 0; i < 6; i++) {
			adjusted += (e[i].d - 0.01) * (e[i].d - 0.01);
			raw += (e[i].d_raw - 0.01) * (e[i].d_raw - 0.01);
			ratio += e[i].q;
		}
	}
	assert_true(adjusted < raw / 12); /* measured on sparse cells: 12 to 30 times less variance */
	assert_true(ratio / 300 < 4e-7 / PAIRS * 4);
}

/* Calls that take a quarter longer for an unrelated reason, one in ten and mostly at a high clock: the slope is that of the
 * others. */
static void slow_calls_are_not_regressed_on_the_clock(void **state)
{
	struct noise n = { .state = 12, .white = 0.001, .run = 0.0005, .clock = 0.02 };
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	for (int trial = 0; trial < 20; trial++) {
		struct noise_run l[2];
		struct run_pairs p[2];
		struct run_estimate e[2];
		double beta;

		for (int i = 0; i < 2; i++) {
			int slowed = 0;
			noise_pairs(&n, 0, PAIRS, 1, &l[i], &p[i]);
			for (int k = 0; k < PAIRS; k++)
				if (slowed < PAIRS / 10 && l[i].target_mhz[k] > l[i].base_mhz[k]) {
					l[i].target_ms[k] *= 1.25f;
					slowed++;
				}
		}
		stats_runs(&r, p, 2, e, &beta);
		near(beta, -1, 0.1);
	}
}

static void no_clock_no_beta(void **state)
{
	struct noise n = { .state = 2, .white = 0.005, .clock = 0 };
	struct run_estimate e[3];
	double beta;

	(void)state;
	estimate_cell(&n, 0, 3, PAIRS, e, &beta);
	near(beta, 0, 0);
	for (int i = 0; i < 3; i++)
		near(e[i].d, e[i].d_raw, 0);
}

/* A clock that is unrelated to the times costs next to nothing. */
static void unrelated_clock(void **state)
{
	struct rule r;
	double slopes = 0, raw = 0, adjusted = 0;

	(void)state;
	rule_default(&r, 20);
	for (int cell = 0; cell < 400; cell++) {
		struct noise n = { .state = (uint64_t)cell * 77 + 3, .white = 0.005, .clock = 0 };
		static struct noise_run l[4];
		struct run_pairs p[4];
		struct run_estimate e[4];
		struct estimate all;
		double beta;

		for (int i = 0; i < 4; i++) {
			noise_pairs(&n, 0, 8, 1, &l[i], &p[i]);
			for (int j = 0; j < 8; j++) {
				l[i].base_mhz[j] = (float)(1650 * exp(0.005 * noise_normal(&n)));
				l[i].target_mhz[j] = (float)(1650 * exp(0.005 * noise_normal(&n)));
			}
			p[i].base_mhz = l[i].base_mhz;
			p[i].target_mhz = l[i].target_mhz;
		}
		stats_runs(&r, p, 4, e, &beta);
		stats_combine(&r, e, 4, &all);
		slopes += beta / 400;
		raw += all.m_raw * all.m_raw;
		adjusted += all.m * all.m;
	}
	assert_true(slopes > -0.2);
	assert_true(adjusted < 1.1 * raw);
}

/* All pairs of a run saw the same two clocks: whether the times followed them cannot be known, so nothing is reported. */
static void clocks_that_do_not_overlap(void **state)
{
	float base_ms[4] = { 38, 38, 38, 38 }, target_ms[4], base_mhz[4] = { 1500, 1500, 1500, 1500 }, target_mhz[4];
	struct run_pairs p = { 1, 4, base_ms, target_ms, base_mhz, target_mhz };
	struct run_estimate e[2];
	struct estimate all;
	struct rule r;
	bool borderline;
	double beta;

	(void)state;
	rule_default(&r, 20);
	r.runs_max = 1;
	for (int i = 0; i < 4; i++) {
		double noise = 1e-4 * (i - 1.5);

		target_ms[i] = (float)(38 * exp(0.034 + noise));
		target_mhz[i] = (float)(1500 * exp(-0.034 + noise));
	}
	stats_runs(&r, &p, 1, e, &beta);
	stats_combine(&r, e, 1, &all);
	assert_true(all.se > 0.01);
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 1, &borderline), DECISION_UNDECIDED);

	/* a second run in which clocks moved decides */
	static const double moved[4] = { -0.03, -0.01, 0.01, 0.03 };
	float more_ms[4], more_mhz[4];
	struct run_pairs both[2] = { p, { 1, 4, base_ms, more_ms, base_mhz, more_mhz } };

	for (int i = 0; i < 4; i++) {
		more_ms[i] = (float)(38 * exp(-moved[i] + 1e-4 * (i % 2)));
		more_mhz[i] = (float)(1500 * exp(moved[i]));
	}
	stats_runs(&r, both, 2, e, &beta);
	stats_combine(&r, e, 2, &all);
	near(beta, -1, 0.02);
	near(all.m, 0, 0.001);
	assert_true(all.se < 0.003);
}

static void missing_clock_in_one_call(void **state)
{
	struct noise n = { .state = 4, .white = 0.0005, .clock = 0.006 };
	struct noise_run l[2];
	struct run_pairs p[2];
	struct run_estimate e[2];
	struct rule r;
	double beta;

	(void)state;
	rule_default(&r, 20);
	noise_pairs(&n, 0, PAIRS, 1, &l[0], &p[0]);
	noise_pairs(&n, 0, PAIRS, 1, &l[1], &p[1]);
	stats_runs(&r, p, 2, e, &beta);
	assert_true(beta < -0.8);
	l[1].target_mhz[5] = 0;
	stats_runs(&r, p, 2, e, &beta);
	near(beta, 0, 0);
	near(e[0].d, e[0].d_raw, 0);
}

static void equal_values(void **state)
{
	float ms[8], mhz[8];
	struct run_pairs p = { 1, 8, ms, ms, mhz, mhz };
	struct run_estimate e;
	struct rule r;
	double beta;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 8; i++)
		ms[i] = 2.5f, mhz[i] = 1500;
	stats_runs(&r, &p, 1, &e, &beta);
	near(e.d, 0, 0);
	near(e.q, 0, 0);
	assert_int_equal(e.n, 8);
}

/* Runs that all agree. */
static void runs_cannot_report_the_clock(void **state)
{
	struct run_estimate e[12];
	struct rule r;
	bool b;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 12; i++)
		e[i] = with_clock(0.0175, i % 2 ? 0.02 : -0.02, 0.02);
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 2, &b), DECISION_MORE);
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 4, &b), DECISION_REGRESSION);
	assert_true(b);
	for (int i = 0; i < 12; i++)
		e[i].d = 0.0128;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 4, &b), DECISION_OK);
	assert_true(b);
	for (int i = 0; i < 12; i++)
		e[i].d = 0.0155; /* runs may still decide this */
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 4, &b), DECISION_MORE);
	for (int i = 0; i < 12; i++)
		e[i].d = 0.0195;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 4, &b), DECISION_REGRESSION);
	assert_false(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants),
		cmocka_unit_test(numbers_of_version_6),
		cmocka_unit_test(pairs_follow_the_length),
		cmocka_unit_test(trimmed_by_hand),
		cmocka_unit_test(combined_by_hand),
		cmocka_unit_test(stopping_by_width_is_paid_for),
		cmocka_unit_test(learned_noise),
		cmocka_unit_test(clock_is_a_component_of_the_change),
		cmocka_unit_test(clocks_that_may_be_either),
		cmocka_unit_test(interval_of_a_clock_that_is_not_seen),
		cmocka_unit_test(interval_of_a_clock_that_may_be_lower),
		cmocka_unit_test(interval_of_copies_that_differ),
		cmocka_unit_test(quantiles_of_t),
		cmocka_unit_test(fisher),
		cmocka_unit_test(medians),
		cmocka_unit_test(clock_is_taken_out),
		cmocka_unit_test(slow_calls_are_not_regressed_on_the_clock),
		cmocka_unit_test(no_clock_no_beta),
		cmocka_unit_test(unrelated_clock),
		cmocka_unit_test(clocks_that_do_not_overlap),
		cmocka_unit_test(missing_clock_in_one_call),
		cmocka_unit_test(equal_values),
		cmocka_unit_test(runs_cannot_report_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
