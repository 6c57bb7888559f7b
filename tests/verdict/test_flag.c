/* Names of flags, and the bounds above which host time, clocks and sustained runs set one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "verdict/verdict.h"

static void flags_convert_to_text_and_back(void **state)
{
	char words[FLAG_NAMES_SIZE];
	(void)state;
	for (int flags = 0; flags < FLAG_END; flags++) {
		flag_names(flags, words);
		assert_int_equal(flag_parse(words), flags);
	}
	flag_names(FLAG_TAIL | FLAG_CLOCK, words);
	assert_string_equal(words, "tail clock");
	assert_int_equal(flag_parse(""), 0);
	assert_int_equal(flag_parse("tails  call nothing"), FLAG_CALL);
}

static struct estimate estimate_of(double loss_pct, double half)
{
	double m = stats_theta(loss_pct);
	return (struct estimate){ .runs = 1, .pairs = 4, .m = m, .m_raw = m, .ci_low = m - half, .ci_high = m + half };
}

static void host_time_is_flagged_when_it_surely_grew(void **state)
{
	(void)state;
	struct estimate small = estimate_of(1.4, 0.001), sure = estimate_of(1.6, 0.01), unsure = estimate_of(3, 0.05),
			none = { 0 }, few = sure;
	few.pairs = 3;
	assert_int_equal(flag_call(&few), 0);
	assert_int_equal(flag_call(&small), 0);
	assert_int_equal(flag_call(&sure), FLAG_CALL);
	assert_int_equal(flag_call(&unsure), 0);
	assert_int_equal(flag_call(&none), 0);
	assert_int_equal(flag_enqueue(5, 7.1, 0.1, false), FLAG_ENQUEUE);
	assert_int_equal(flag_enqueue(5, 7.1, -0.1, false), 0);  /* runs do not agree */
	assert_int_equal(flag_enqueue(5, 6.9, 0.1, false), 0);   /* 2 us or less */
	assert_int_equal(flag_enqueue(30, 32.5, 0.1, false), 0); /* 10 % or less */
	assert_int_equal(flag_enqueue(7.1, 5, 0.1, false), 0);
	assert_int_equal(flag_enqueue(NAN, 50, 0.1, false), 0);
	assert_int_equal(flag_enqueue(311, 361, 0.1, true), FLAG_ENQUEUE);
	assert_int_equal(flag_enqueue(311, 361, -0.1, true), 0); /* runs do not agree */
	assert_int_equal(flag_enqueue(311, 326, 0.1, true), 0);  /* 5 % or less */
	assert_int_equal(flag_enqueue(30, 34.9, 0.1, true), 0);  /* 5 us or less */
	assert_int_equal(flag_enqueue(5, 7, 0.1, false), 0);     /* exactly */
	assert_int_equal(flag_enqueue(30, 35, 0.1, true), 0);
	assert_int_equal(flag_enqueue(30, 33.5, 0.1, false), FLAG_ENQUEUE);
	assert_int_equal(flag_enqueue(311, 327, 0.1, true), FLAG_ENQUEUE);
	assert_int_equal(flag_enqueue(30, 35.1, 0.1, true), FLAG_ENQUEUE);
}

static void a_share_may_be_the_clocks(void **state)
{
	(void)state;
	struct estimate e = estimate_of(1, 0.001);
	e.m_code = e.m;
	assert_int_equal(flag_clock(&e), 0);
	e.m_code = stats_theta(1.2);
	e.se_clock = 0.0006;
	assert_int_equal(flag_clock(&e), FLAG_CLOCK);
	e.se_clock = 0.0008; /* less than three standard errors */
	assert_int_equal(flag_clock(&e), 0);
	e.m_code = stats_theta(0.92); /* too small to report */
	e.se_clock = 0.0001;
	assert_int_equal(flag_clock(&e), 0);
	e.m_code = stats_theta(0.7);
	assert_int_equal(flag_clock(&e), FLAG_CLOCK);
}

/* Runs that all agree. */
static struct judgement judged(double loss_pct, int sets)
{
	struct run_estimate e[2 * STATS_RUNS_MAX];
	struct judgement j;
	struct rule r;
	int n = 0;
	rule_default(&r, 20);
	r.tau0 = 0.008; /* an unconfirmed value is not overwhelming */
	for (int set = 1; set <= sets; set++)
		for (int i = 0; i < 4; i++, n++)
			e[n] = (struct run_estimate){
				.set = set, .n = 8, .d = stats_theta(loss_pct), .q = 1e-8, .d_raw = stats_theta(loss_pct)
			};
	verdict_judge(&r, 1.5, false, e, n, &j);
	return j;
}

static void sustained_runs_show_a_regression_that_pairs_do_not(void **state)
{
	(void)state;
	struct judgement pairs = judged(0, 1), sustained_runs = judged(5, 2);
	assert_int_equal(pairs.verdict, VERDICT_UNCHANGED);
	assert_int_equal(sustained_runs.verdict, VERDICT_REGRESSION);
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_REGRESSION);
	assert_int_equal(pairs.flags & FLAG_SUSTAINED, FLAG_SUSTAINED);

	pairs = judged(0, 1);
	sustained_runs = judged(5, 1); /* not confirmed yet */
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_UNCHANGED);

	pairs = judged(4, 2);
	sustained_runs = judged(5, 2);
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.flags & FLAG_SUSTAINED, 0); /* the pairs show it themselves */

	struct judgement nothing = { .verdict = VERDICT_REGRESSION };
	pairs = judged(0, 1);
	verdict_sustained(&pairs, &nothing);
	assert_int_equal(pairs.verdict, VERDICT_UNCHANGED);
}

/* Sustained runs of 0.4 s, which an older flopwatch stored, have more noise than those of a second. */
static void older_sustained_runs_are_judged_as_they_were(void **state)
{
	struct rule rule, of_sustained_runs;
	(void)state;
	rule_default(&rule, 20);
	double now = verdict_rule_of_sustained_runs(&rule).tau0;
	rule.version = 5; /* A B B A in each run */
	of_sustained_runs = verdict_rule_of_sustained_runs(&rule);
	assert_true(of_sustained_runs.tau0 < now);
	assert_int_equal(of_sustained_runs.runs_ok_min, 2);
	assert_int_equal(of_sustained_runs.runs_regression_min, 2);
	assert_int_equal(of_sustained_runs.runs_max, 4);
	rule.runs_ok_min = 6; /* of a calibration */
	assert_int_equal(verdict_rule_of_sustained_runs(&rule).runs_ok_min, 6);
	rule.version = 3;
	assert_true(verdict_rule_of_sustained_runs(&rule).tau0 > 3 * of_sustained_runs.tau0);
}

/* Sustained runs with these losses in percent, of set 1 and then of set 2. */
static struct judgement judge_sustained(const double *one, int n_one, const double *two, int n_two)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j;
	struct rule general, r;
	rule_default(&general, 20);
	r = verdict_rule_of_sustained_runs(&general);
	for (int i = 0; i < n_one + n_two; i++) {
		double d = stats_theta(i < n_one ? one[i] : two[i - n_one]);
		e[i] = (struct run_estimate){ .set = 1 + (i >= n_one), .n = 32, .d = d, .d_raw = d, .q = 1e-8 };
	}
	verdict_judge(&r, 1.5, false, e, n_one + n_two, &j);
	return j;
}

static void one_sustained_run_far_beyond_is_a_set(void **state)
{
	static const double far[] = { 3.8 }, near[] = { 3.3, 2.9 }, equal[] = { 0.3, -0.4 }, odd[] = { -1.4, 0.2 };
	struct judgement j;
	(void)state;
	j = judge_sustained(far, 1, NULL, 0);
	assert_true(j.verdict == VERDICT_UNDECIDED && j.want_set == 2);
	j = judge_sustained(far, 1, far, 1);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	j = judge_sustained(near, 1, NULL, 0);
	assert_true(j.verdict == VERDICT_UNDECIDED && j.want_set == 1);
	j = judge_sustained(near, 2, near, 1);
	assert_true(j.verdict == VERDICT_UNDECIDED && j.want_set == 2);
	j = judge_sustained(near, 2, near, 2);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	j = judge_sustained(equal, 1, NULL, 0);
	assert_true(j.verdict == VERDICT_UNDECIDED && j.want_set == 1);
	j = judge_sustained(equal, 2, NULL, 0);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	/* the largest difference of equal builds that was recorded, and another run */
	j = judge_sustained(odd, 2, NULL, 0);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
}

static void sustained_runs_show_a_gain_that_pairs_do_not(void **state)
{
	(void)state;
	struct judgement pairs = judged(0, 1), sustained_runs = judged(-5, 2);
	assert_int_equal(sustained_runs.verdict, VERDICT_IMPROVEMENT);
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(pairs.flags & ~FLAG_OVERWHELMING, FLAG_SUSTAINED);

	pairs = judged(-4, 2); /* the pairs show it themselves */
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(pairs.flags & ~FLAG_OVERWHELMING, 0);

	pairs = judged(4, 2); /* a regression of the pairs remains one */
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_REGRESSION);

	pairs = judged(4, 1); /* nor does it decide what is open */
	verdict_sustained(&pairs, &sustained_runs);
	assert_int_equal(pairs.verdict, VERDICT_UNDECIDED);
	assert_int_equal(pairs.want_set, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_convert_to_text_and_back),
		cmocka_unit_test(host_time_is_flagged_when_it_surely_grew),
		cmocka_unit_test(a_share_may_be_the_clocks),
		cmocka_unit_test(sustained_runs_show_a_regression_that_pairs_do_not),
		cmocka_unit_test(older_sustained_runs_are_judged_as_they_were),
		cmocka_unit_test(one_sustained_run_far_beyond_is_a_set),
		cmocka_unit_test(sustained_runs_show_a_gain_that_pairs_do_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
