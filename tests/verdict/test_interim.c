/* Interim analyses of all runs together: tails of t against known values, what is overwhelming, and how often chance is, on seeded
 * noise. */
/* Left to `make check`: takes seconds, only computes. */
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "noise.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

/* Compared with independent values: exact for 1, 2 and 4 degrees, the others from tables of t and the normal distribution. */
static void tails_of_t(void **state)
{
	(void)state;
	for (double t = 0.5; t < 1e12; t *= 7.3) {
		double exact = atan2(1, t) / M_PI; /* Cauchy */
		near(stats_t_tail(t, 1) / exact, 1, 1e-10);
		exact = 1 / (sqrt(t * t + 2) * (sqrt(t * t + 2) + t));
		near(stats_t_tail(t, 2) / exact, 1, 1e-10);
	}
	near(stats_t_tail(2.015048373, 5), 0.05, 1e-10);
	near(stats_t_tail(4.587, 10), 5e-4, 1e-7);
	near(stats_t_tail(12.706204736, 1), 0.025, 1e-11);
	near(stats_t_tail(4.753424308, 1e9) / 1e-6, 1, 1e-4); /* of the normal distribution */
	near(stats_t_tail(7.034483825, 1e9) / 1e-12, 1, 1e-3);
	near(stats_t_tail(0, 6.5), 0.5, 1e-15);
	near(stats_t_tail(-2.015048373, 5), 0.95, 1e-10);
	near(stats_t_tail(INFINITY, 3), 0, 0);
	near(stats_t_tail(-INFINITY, 3), 1, 0);
	for (double degrees = 1; degrees < 60; degrees *= 1.7)
		for (double p = 0.3; p > 1e-12; p /= 11)
			near(stats_t_tail(stats_t_above(p, degrees), degrees) / p, 1, 1e-9);
	near(stats_t_above(0.025, 7), stats_t95(7), 1e-9);
	assert_true(stats_t_tail(30, 7) < stats_t_tail(29, 7));
}

static int of_modules(struct run_estimate *e, int n, double d, double separate)
{
	for (int i = 0; i < n; i++)
		e[i] = (struct run_estimate){
			.set = 1, .n = 16, .d = d + (i % 2 ? separate : -separate), .q = 1e-8, .z_q = 1e-9, .beta = -1
		};
	return n;
}

/* By hand: v = (6 (0.0008^2 + q) + sum) / (5 + n), se^2 = v / n + 0.0001^2. */
static void evidence_by_hand(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	double theta = stats_theta(1.5), v = (6 * (0.0008 * 0.0008 + 1e-8) + 2 * 0.0002 * 0.0002) / 7;
	struct estimate all;
	struct interim l;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	interim_estimate(&r, theta, e, of_modules(e, 2, 0.03, 0.0002), &l);
	stats_combine(&r, e, 2, &all);
	near(l.m, 0.03, 1e-12);
	near(l.degrees, 7, 0);
	near(l.se, sqrt(v / 2 + 1e-8 + all.se_clock * all.se_clock), 1e-9);
	assert_true(all.se_clock > 0);
	near(l.p_slower / stats_t_tail((0.03 - theta) / l.se, 7), 1, 1e-6);
	assert_true(l.p_faster > 0.999999);
	interim_estimate(&r, theta, e, 0, &l);
	assert_true(l.p_slower == 1 && l.p_faster == 1 && isinf(l.se));
	/* pairs with more noise than their runs: never below the noise of a run that they imply */
	for (int i = 0; i < 2; i++)
		e[i].q = 1e-4;
	interim_estimate(&r, theta, e, 2, &l);
	assert_true(l.se >= sqrt(1e-4 / 2));
	/* the learned noise is the whole noise of its cell */
	struct rule learned = stats_rule_of_cell(&r, 0.003, 20);
	interim_estimate(&learned, theta, e, of_modules(e, 4, 0.03, 0), &l);
	stats_combine(&learned, e, 4, &all);
	near(l.se, sqrt(20 * 9e-6 / 23 / 4 + 1e-8 + all.se_clock * all.se_clock), 1e-9);
	near(l.degrees, 23, 0);
}

static enum decision decide(bool is_program, double d, double separate, int n, bool is_over)
{
	static const struct benchmark benchmark = { .threshold_pct = 1.5 };
	struct run_estimate e[STATS_RUNS_MAX];
	struct rule r;

	if (is_program)
		benchmark_rule(&benchmark, 1, &r);
	else
		rule_default(&r, 20);
	return interim_decide(&r, stats_theta(1.5), e, of_modules(e, n, d, separate), is_over);
}

static void both_directions_give_the_same_decision(void **state)
{
	(void)state;
	for (int n = 1; n <= 32; n++)
		for (double d = 0.005; d < 0.1; d += 0.0013)
			for (int programs = 0; programs < 2; programs++) {
				enum decision loss = decide(programs, d, 0.0003, n, false),
					      gain = decide(programs, -d, 0.0003, n, false);
				assert_true((loss == DECISION_REGRESSION) == (gain == DECISION_IMPROVEMENT));
				assert_true(gain != DECISION_REGRESSION && loss != DECISION_IMPROVEMENT);
				assert_true((loss == DECISION_OK) == (gain == DECISION_OK));
			}
}

static void interim_analyses_are_few(void **state)
{
	(void)state;
	assert_int_equal(decide(false, 0.04, 0.0003, 1, true), DECISION_MORE); /* one run is no evidence */
	assert_int_equal(decide(false, 0.04, 0.0003, 2, false), DECISION_REGRESSION);
	assert_int_equal(decide(true, 0.2, 0.0003, 2, true), DECISION_MORE); /* programs from the third */
	assert_int_equal(decide(true, 0.2, 0.0003, 3, false), DECISION_REGRESSION);
	assert_int_equal(decide(true, 0, 0.0003, 5, false), DECISION_MORE);
	assert_int_equal(decide(true, 0, 0.0003, 6, false), DECISION_OK);
	assert_int_equal(decide(false, 0, 0.0003, 6, false), DECISION_MORE); /* for modules stats_decide decides that */
	/* a regression that five runs show and four do not: the budget ended, or the sixth decides */
	for (double d = 0.016; d < 0.04; d += 0.00005)
		if (decide(false, d, 0.0003, 4, false) == DECISION_MORE &&
			decide(false, d, 0.0003, 5, true) == DECISION_REGRESSION) {
			assert_int_equal(decide(false, d, 0.0003, 5, false), DECISION_MORE);
			assert_int_equal(decide(false, d, 0.0003, 6, false), DECISION_REGRESSION);
			return;
		}
	fail_msg("no such loss");
}

static void a_rule_that_wants_all_runs_gets_them(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	r.runs_ok_min = r.runs_regression_min = 12;
	assert_int_equal(interim_decide(&r, stats_theta(1.5), e, of_modules(e, 8, 0.04, 0.0003), false), DECISION_MORE);
	assert_int_equal(interim_decide(&r, stats_theta(1.5), e, of_modules(e, 12, 0.04, 0.0003), false), DECISION_REGRESSION);
	r.p_interim = 0; /* a rule without interim analyses */
	assert_int_equal(interim_decide(&r, stats_theta(1.5), e, of_modules(e, 12, 0.04, 0.0003), true), DECISION_MORE);
}

/* A clock change that the branch may have caused, and a slope that the pairs leave open, are uncertainties of an interim look as
 * of every decision. */
static void a_clock_in_doubt_is_not_overwhelming(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct rule r;
	int n;

	(void)state;
	rule_default(&r, 20);
	n = of_modules(e, 4, 0.0, 0.0003);
	for (int i = 0; i < n; i++) /* a regression by the clock alone that runs do not agree on */
		e[i].z = -0.03 + (i % 2 ? 0.01 : -0.01), e[i].z_q = 1e-4;
	assert_int_equal(interim_decide(&r, stats_theta(1.5), e, n, true), DECISION_MORE);
	n = of_modules(e, 4, 0.034, 0.0001);
	for (int i = 0; i < n; i++) /* whether times follow the clock is not known */
		e[i].z = -0.034, e[i].z_q = 1e-8, e[i].beta_q = 0.25, e[i].beta = -0.5;
	struct interim l;
	interim_estimate(&r, stats_theta(1.5), e, n, &l);
	struct estimate all;
	stats_combine(&r, e, n, &all);
	assert_true(l.se >= hypot(all.se_slope, all.se_clock));
}

static void no_path_leaves_it_undecided(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX], none[1];
	struct verdict_options options = { .threshold_pct = 1.5 };
	struct judgement j, sustained;
	struct rule r;

	(void)state;
	/* -3.94 % [-4.01, -3.88]: the budget ended after three runs */
	rule_default(&r, 20);
	for (int is_over = 0; is_over < 2; is_over++)
		for (int sign = 1; sign >= -1; sign -= 2) {
			options.is_over = is_over;
			verdict_of_cell(
				&r, &options, e, of_modules(e, 3, sign * stats_theta(3.94), 0.0003), none, 0, &j, &sustained);
			assert_int_equal(j.verdict, sign > 0 ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT);
			assert_int_equal(j.flags, FLAG_OVERWHELMING);
			assert_int_equal(j.want_set, 0);
			assert_string_equal(j.reason, "");
		}
	/* the first set of one device, which another one would confirm */
	r.confirm = false;
	verdict_of_cell(&r, &options, e, of_modules(e, 3, 0.04, 0.0003), none, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	r.confirm = true;
	/* a cell that is underpowered to small regressions */
	options.underpowered_pct = 3;
	verdict_of_cell(&r, &options, e, of_modules(e, 3, 0.028, 0.0003), none, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, FLAG_OVERWHELMING | FLAG_UNDERPOWERED);
	options.underpowered_pct = 0;
	/* marginal evidence still waits for its confirmation */
	verdict_of_cell(&r, &options, e, of_modules(e, 4, 0.0166, 0.0003), none, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 2);
	/* and of sustained runs, where they become slower by far more than sustained runs vary */
	verdict_of_cell(&r, &options, e, of_modules(e, 2, 0, 0.0003), none, 0, &j, &sustained);
	struct run_estimate sustained_runs[2] = { { .set = 1, .n = 8, .d = 0.5 }, { .set = 1, .n = 8, .d = 0.501 } };
	verdict_of_cell(&r, &options, e, 2, sustained_runs, 2, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_true((j.flags & FLAG_SUSTAINED) && !(j.flags & FLAG_BORDERLINE));
}

struct request_counter {
	int regression, improvement, unchanged, flagged, undecided;
};

static void add(struct request_counter *t, const struct judgement *j)
{
	t->regression += j->verdict == VERDICT_REGRESSION;
	t->improvement += j->verdict == VERDICT_IMPROVEMENT;
	t->undecided += j->verdict == VERDICT_UNDECIDED;
	t->unchanged += j->verdict == VERDICT_UNCHANGED && !(j->flags & FLAG_BORDERLINE);
	t->flagged += j->verdict == VERDICT_UNCHANGED && (j->flags & FLAG_BORDERLINE);
}

/*
 * Programs of which each process has one of two speeds, `apart` from each other, and whose runs additionally vary by `noise`;
 * `budget`: runs after which it ends.
 */
static struct request_counter run_programs(struct noise dice, double separate, double spread, double truth, int budget, int cells)
{
	static const struct benchmark benchmark = { .threshold_pct = 1.5 };
	struct request_counter t = { 0 };
	struct rule r;

	benchmark_rule(&benchmark, 1, &r);
	for (int i = 0; i < cells; i++) {
		struct verdict_options options = { .threshold_pct = 1.5 };
		struct run_estimate e[STATS_RUNS_MAX];
		struct judgement j = { .want_set = 1 }, none;
		int n = 0;

		while (j.want_set && n < STATS_RUNS_MAX && n < budget) {
			double speeds = (noise_uniform(&dice) < 0.5 ? separate : 0) - (noise_uniform(&dice) < 0.5 ? separate : 0);
			double d = truth + speeds + spread * noise_normal(&dice);

			assert_int_equal(j.want_set, 1); /* all runs are one set */
			e[n++] = (struct run_estimate){ .set = 1, .n = 20, .d = d, .q = 4e-6, .d_raw = d };
			options.is_over = n == budget;
			verdict_of_cell(&r, &options, e, n, NULL, 0, &j, &none);
		}
		add(&t, &j);
	}
	return t;
}

static const struct noise seeded = { .state = 77 };

static void programs_of_two_speeds(void **state)
{
	struct request_counter t;

	(void)state;
	t = run_programs(seeded, 0.01, 0.002, 0, 32, 300);
	assert_int_equal(t.regression + t.improvement, 0);
	assert_true(t.unchanged + t.flagged >= 298);
	t = run_programs(seeded, 0.02, 0.002, 0, 32, 300);
	assert_int_equal(t.regression + t.improvement, 0);
	for (int sign = 1; sign >= -1; sign -= 2) {
		t = run_programs(seeded, 0.01, 0.002, sign * stats_theta(2), 32, 300);
		assert_true((sign > 0 ? t.regression : t.improvement) >= 280);
		assert_int_equal(sign > 0 ? t.improvement : t.regression, 0);
		if (sign > 0)
			assert_int_equal(t.unchanged, 0); /* a real regression is never unchanged without a flag */
		/* nor where the budget ends early */
		t = run_programs(seeded, 0.01, 0.002, sign * stats_theta(2), 5, 300);
		assert_int_equal(sign > 0 ? t.improvement : t.regression, 0);
		if (sign > 0)
			assert_int_equal(t.unchanged, 0);
	}
}

/* -39.7 % [-51, -25] was undecided, whatever the runs showed. */
static void noisy_runs(void **state)
{
	struct request_counter t;

	(void)state;
	t = run_programs(seeded, 0, 0.1, stats_theta(40), 6, 300);
	assert_true(t.regression >= 150);
	assert_int_equal(t.unchanged + t.flagged + t.improvement, 0);
	t = run_programs(seeded, 0, 0.03, stats_theta(40), 6, 300);
	assert_true(t.regression >= 297);
	t = run_programs(seeded, 0, 0.2, stats_theta(40), 12, 300);
	assert_true(t.regression >= 276);
	int words = 0; /* the plain t test at the last run is wrong in at most 1e-4, in each direction */

	for (double spread = 0.01; spread < 0.5; spread *= 2)
		for (int budget = 3; budget <= 12; budget += 3) {
			t = run_programs((struct noise){ .state = (uint64_t)(1e4 * spread) + (uint64_t)budget }, 0, spread, 0,
				budget, 500);
			words += t.regression + t.improvement;
		}
	assert_true(words <= 2);
}

static void chance_decides_no_change_of_a_program(void **state)
{
	struct judgement j;
	struct rule r;
	struct run_estimate e[STATS_RUNS_MAX];
	static const struct benchmark benchmark = { .threshold_pct = 1.5 };

	(void)state;
	benchmark_rule(&benchmark, 1, &r);
	for (int i = 0; i < 2; i++) /* a gain took one set of two runs */
		e[i] = (struct run_estimate){ .set = 1, .n = 20, .d = -0.02, .q = 1e-7, .z_q = 1e-8, .beta = -1 };
	verdict_judge(&r, 1.5, false, e, 2, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 1);
	assert_string_equal(j.reason,
		"after 2 of at most 32 runs: each process of a program has its own speed, which takes at least 3 to see");
	for (int i = 2; i < 5; i++)
		e[i] = e[0];
	verdict_judge(&r, 1.5, false, e, 5, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_non_null(strstr(j.reason,
		"too close to call after 5 of at most 32 runs: 0.50 points from the threshold, where a verdict needs "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tails_of_t),
		cmocka_unit_test(evidence_by_hand),
		cmocka_unit_test(both_directions_give_the_same_decision),
		cmocka_unit_test(interim_analyses_are_few),
		cmocka_unit_test(a_rule_that_wants_all_runs_gets_them),
		cmocka_unit_test(a_clock_in_doubt_is_not_overwhelming),
		cmocka_unit_test(no_path_leaves_it_undecided),
		cmocka_unit_test(programs_of_two_speeds),
		cmocka_unit_test(noisy_runs),
		cmocka_unit_test(chance_decides_no_change_of_a_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
