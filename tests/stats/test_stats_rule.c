/* The boundaries of the sequential rule: what is decided, when it ends, and what is known early. */
#include "near.h"

#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"

static enum decision decide(double d, double q, int n, bool *borderline)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct rule r;

	rule_default(&r, 20);
	for (int i = 0; i < n; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = d, .q = q, .d_raw = d };
	return stats_decide(&r, stats_theta(1.5), e, n, borderline);
}

static void decisions(void **state)
{
	bool b;

	(void)state;
	assert_int_equal(decide(0, 0, 0, &b), DECISION_MORE);
	assert_int_equal(decide(0, 0, 1, &b), DECISION_MORE); /* never before two runs */
	assert_int_equal(decide(0, 0, 2, &b), DECISION_OK);
	assert_int_equal(decide(-0.05, 0, 3, &b), DECISION_MORE); /* nor a gain before four */
	assert_int_equal(decide(-0.05, 0, 4, &b), DECISION_IMPROVEMENT);
	assert_false(b);
	assert_int_equal(decide(-0.0150, 0, 12, &b), DECISION_OK);
	assert_true(b);
	assert_int_equal(decide(-0.0152, 0, 12, &b), DECISION_IMPROVEMENT);
	assert_true(b);
	assert_int_equal(decide(-0.0155, 1e-3, 12, &b), DECISION_OK); /* no regression, and too much noise for a gain */
	assert_false(b);
	assert_int_equal(decide(0.05, 0, 3, &b), DECISION_MORE); /* never a regression before four */
	assert_int_equal(decide(0.05, 0, 4, &b), DECISION_REGRESSION);
	assert_false(b);
	assert_int_equal(decide(0.0150, 0, 11, &b), DECISION_MORE);
	assert_int_equal(decide(0.0150, 0, 12, &b), DECISION_OK);
	assert_true(b);
	assert_int_equal(decide(0.0152, 0, 12, &b), DECISION_REGRESSION);
	assert_true(b);
	assert_int_equal(decide(0.0152, 0, 13, &b), DECISION_REGRESSION); /* runs for precision do not reopen it */
	assert_int_equal(decide(0.0152, 1e-3, 12, &b), DECISION_UNDECIDED);
	assert_false(b);
}

static void most_runs_must_agree(void **state)
{
	struct run_estimate e[8];
	struct rule r;
	bool b;

	(void)state;
	rule_default(&r, 20);
	r.tau0 = 1e-6;
	r.k = 0.5;
	for (int i = 0; i < 8; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = i < 3 ? 0.0 : 0.05 };
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 8, &b), DECISION_MORE);
	e[0].d = 0.05;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), e, 8, &b), DECISION_REGRESSION);
}

static void draw_runs(struct noise *noise, struct run_estimate *e, int n)
{
	for (int i = 0; i < n; i++) {
		double d = 0.007 * noise_normal(noise);
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = d, .d_raw = d };
	}
}

/* Equal builds with a standard error of two thresholds: neither set of runs can tell a loss, and no sign decides. */
static void a_sign_needs_a_standard_error_below_the_threshold(void **state)
{
	enum { CELLS = 2000 };
	struct run_estimate one[STATS_RUNS_MAX], two[STATS_RUNS_MAX];
	struct rule r;
	int confirmed = 0, unchanged = 0;
	double theta = stats_theta(0.1);
	struct noise noise = { .state = 1 };
	bool b;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < CELLS; i++) {
		draw_runs(&noise, one, r.runs_max);
		draw_runs(&noise, two, r.runs_max);
		enum decision d = stats_decide(&r, theta, one, r.runs_max, &b);
		unchanged += d == DECISION_OK;
		confirmed += d == DECISION_REGRESSION && stats_decide(&r, theta, two, r.runs_max, &b) == DECISION_REGRESSION;
	}
	assert_int_equal(confirmed, 0);
	assert_true(unchanged < CELLS / 50); /* those whose margin excludes the threshold */
	/* no shipped threshold is lower */
	assert_true(stats_se_max(&r, stats_theta(1.5)) == r.se_max && stats_se_max(&r, stats_theta(5)) == r.se_max);
	near(stats_se_max(&r, theta), 0.0002, 1e-6);
}

static void a_quick_interim_analysis(void **state)
{
	struct run_estimate e = { .set = 1, .n = 16 };
	struct rule r;
	bool b;

	(void)state;
	rule_default(&r, 20);
	r.runs_max = 1;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), &e, 1, &b), DECISION_OK);
	e.d = 0.05;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), &e, 1, &b), DECISION_REGRESSION);
	e.d = 0.016;
	assert_int_equal(stats_decide(&r, stats_theta(1.5), &e, 1, &b), DECISION_UNDECIDED);
	assert_false(b);
	/* four runs decide by sign, three do not */
	struct run_estimate four[4] = { e, e, e, e };
	for (r.runs_max = 3; r.runs_max <= 4; r.runs_max++) {
		assert_int_equal(stats_decide(&r, stats_theta(1.5), four, r.runs_max, &b),
			r.runs_max == 3 ? DECISION_UNDECIDED : DECISION_REGRESSION);
		assert_true(b == (r.runs_max == 4));
	}
}

static void what_cannot_be_decided_is_known_early(void **state)
{
	struct run_estimate wild[4] = { { .set = 1, .n = 2, .d = 0.03 }, { .set = 1, .n = 2, .d = -0.02 },
		{ .set = 1, .n = 2, .d = 0.04 }, { .set = 1, .n = 2, .d = -0.03 } };
	struct run_estimate calm[4] = { { .set = 1, .n = 2, .d = 0.003 }, { .set = 1, .n = 2, .d = -0.002 },
		{ .set = 1, .n = 2, .d = 0.004 }, { .set = 1, .n = 2, .d = -0.003 } };
	struct rule r;
	double se;

	(void)state;
	rule_default(&r, 1);
	assert_true(stats_is_hopeless(&r, stats_theta(1.5), wild, 4, &se));
	assert_true(se > 0.004 && se < 0.02);
	assert_false(stats_is_hopeless(&r, stats_theta(1.5), calm, 4, &se));
	for (int i = 0; i < 4; i++)
		calm[i].d += stats_theta(1.5); /* at the threshold, but precise enough in the end */
	assert_false(stats_is_hopeless(&r, stats_theta(1.5), calm, 4, &se));
	assert_true(se < r.se_max);
	r.runs_max = 4; /* nothing follows that could be saved */
	assert_false(stats_is_hopeless(&r, stats_theta(1.5), wild, 4, &se));
	r.runs_max = 12;
	for (int i = 0; i < 4; i++)
		wild[i].d += 0.3; /* a regression that is clear however runs vary */
	assert_false(stats_is_hopeless(&r, stats_theta(1.5), wild, 4, &se));
	assert_false(stats_is_hopeless(&r, stats_theta(1.5), wild, 0, &se));
}

/* Clocks of calls make runs agree to hundredths of a percent; processes differ by more than their clocks. */
static void a_process_clock_is_not_a_call_clock(void **state)
{
	const float ms[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, mhz[8] = { 1500, 1500, 1500, 1500, 1500, 1500, 1500, 1500 };
	double se[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct run_pairs run[2];
		struct run_estimate e[2];
		struct estimate all;
		struct rule r;
		double beta;

		rule_default(&r, 1);
		r.programs = i != 2; /* a program's rule; a module's */
		for (int k = 0; k < 2; k++)
			run[k] = (struct run_pairs){
				.set = 1, .n = i == 0 ? 2 : 8, .base_ms = ms, .target_ms = ms, .base_mhz = mhz, .target_mhz = mhz
			};
		stats_runs(&r, run, 2, e, &beta);
		stats_combine(&r, e, 2, &all);
		se[i] = all.se_code;
	}
	assert_true(se[0] > 3 * se[2]); /* whole processes compared with modules */
	assert_true(se[1] > 3 * se[2]); /* the same program interleaved, whose processes also differ in speed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions),
		cmocka_unit_test(most_runs_must_agree),
		cmocka_unit_test(a_sign_needs_a_standard_error_below_the_threshold),
		cmocka_unit_test(a_quick_interim_analysis),
		cmocka_unit_test(a_process_clock_is_not_a_call_clock),
		cmocka_unit_test(what_cannot_be_decided_is_known_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
