/* Stored noise of a cell compared with the current runs: the F test by hand, regressions in cells that were once noisy, equal
 * builds that are. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

/* Runs of both sets alternating `spread` above and below `d`. Shape: e[one + two]. */
static int runs(int one, int two, double d, double spread, struct run_estimate *e)
{
	for (int i = 0; i < one + two; i++) {
		double off = i % 2 ? spread : -spread;

		e[i] = (struct run_estimate){ .set = i < one ? 1 : 2, .n = 16, .d = d + off, .q = 1e-7, .d_raw = d + off };
	}
	return one + two;
}

/* As worker and daemon do it. */
static struct judgement judge(const struct run_estimate *e, int n, double tau0, double nu0, double underpowered_pct, int runs_max)
{
	struct verdict_options options = { .threshold_pct = 1.5, .tau0 = tau0, .nu0 = nu0, .underpowered_pct = underpowered_pct };
	struct judgement j, none;
	struct rule general;

	rule_default(&general, 20);
	if (runs_max) {
		general.runs_max = runs_max;
		general.confirm = runs_max >= general.runs_regression_min;
	}
	verdict_of_cell(&general, &options, e, n, NULL, 0, &j, &none);
	return j;
}

/* Quantiles of F at 0.001: of 4 and 20 degrees 0.02169 and 7.096; of 6 and 10, 0.05432 and 9.926. */
static void variances_are_reported_separate(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	int n = runs(3, 3, 0, 0.01, e); /* in each set the mean is a third off: 4 degrees, variance 4/3 of 0.01 squared */
	double sd = 0.01 * sqrt(4.0 / 3);

	(void)state;
	assert_true(memory_fits(sd, 20, e, n));
	assert_true(memory_fits(sd / sqrt(0.0223), 20, e, n));
	assert_false(memory_fits(sd / sqrt(0.0213), 20, e, n));
	assert_true(memory_fits(sd / sqrt(7.0), 20, e, n));
	assert_false(memory_fits(sd / sqrt(7.2), 20, e, n));
	n = runs(4, 4, 0, 0.01, e); /* 6 degrees, variance 8/6 */
	sd = 0.01 * sqrt(8.0 / 6);
	assert_true(memory_fits(sd / sqrt(0.0552), 10, e, n));
	assert_false(memory_fits(sd / sqrt(0.0534), 10, e, n));
	assert_true(memory_fits(sd / sqrt(9.8), 10, e, n));
	assert_false(memory_fits(sd / sqrt(10.1), 10, e, n));
	/* sets that differ show nothing about noise */
	n = runs(3, 3, 0, 0.01, e);
	for (int i = 3; i < 6; i++)
		e[i].d += 1;
	assert_true(memory_fits(0.01 * sqrt(4.0 / 3), 20, e, n));
	/* nothing to compare, or nothing to compare it with */
	assert_true(memory_fits(0.25, 20, e, 1));
	assert_true(memory_fits(0, 0, e, n));
	assert_true(memory_fits(0.25, 0, e, n));
	n = runs(4, 4, 0, 0, e);
	assert_false(memory_fits(0.002, 20, e, n));
}

static void the_rule_follows_the_assumed_variance(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct rule general, r;
	int n = runs(4, 0, 0, 0.002, e);

	(void)state;
	rule_default(&general, 20);
	r = memory_rule(&general, 0.003, 15, e, n);
	assert_true(r.learned && r.tau0 == 0.003 && r.nu0 == 15);
	r = memory_rule(&general, 0.25, 15, e, n);
	assert_true(!r.learned && r.tau0 == general.tau0 && r.nu0 == general.nu0);
	r = memory_rule(&general, 0, 0, e, n);
	assert_true(!r.learned && r.tau0 == general.tau0);
}

static void clear_runs_outweigh_learned_noise(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	double loss = stats_theta(9.56);
	struct judgement j;

	(void)state;
	/* -9.56 %, two sets of four runs; the first calibration ran with concurrent work */
	j = judge(e, runs(4, 0, loss, 0.0155, e), 0.26, 10, 27.9, 0);
	assert_int_equal(j.want_set, 2); /* overwhelming compared with these runs, not with those before */
	j = judge(e, runs(4, 4, loss, 0.0155, e), 0.26, 10, 27.9, 0);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, 0); /* the current runs decide as before */
	assert_true(stats_change_pct(j.all.ci_high) > -11.5 && stats_change_pct(j.all.ci_low) < -7.5);
	/* and equal builds are unchanged after some runs, for the same reason */
	j = judge(e, runs(2, 0, 0, 0.002, e), 0.26, 10, 27.9, 0);
	assert_int_equal(j.want_set, 1);
	j = judge(e, runs(4, 0, 0, 0.002, e), 0.26, 10, 27.9, 0);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	assert_int_equal(j.flags, 0);
	/* a cell that varies as is known: a change that is clear in spite of that is reported, with the flag */
	j = judge(e, runs(4, 4, stats_theta(30), 0.02, e), 0.02, 10, 4, 0);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, FLAG_UNDERPOWERED | FLAG_OVERWHELMING);
	j = judge(e, runs(12, 0, stats_theta(3), 0.02, e), 0.02, 10, 4, 0);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.flags, FLAG_UNDERPOWERED);
}

static void a_sign_is_no_evidence_where_cells_are_underpowered(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j;

	(void)state;
	j = judge(e, runs(12, 12, stats_theta(1.52), 0.002, e), 0.002, 10, 0, 0);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, FLAG_BORDERLINE);
	j = judge(e, runs(12, 12, stats_theta(1.52), 0.002, e), 0.002, 10, 3, 0);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.flags, FLAG_UNDERPOWERED);
	assert_int_equal(j.want_set, 0);
	assert_string_equal(
		j.reason, "equal builds vary so much here that a slowdown below 3.0 % has to be clear, and -1.52 % is not");
	/* nor is a single run */
	j = judge(e, runs(1, 0, stats_theta(9), 0, e), 0.01, 10, 10, 1);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.flags, FLAG_UNDERPOWERED);
	j = judge(e, runs(1, 0, stats_theta(11), 0, e), 0.01, 10, 10, 1);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
}

/* Equal builds whose runs vary by several per cent, as is known: none is reported because runs agree by chance. */
static void learned_noise_raises_no_alarm(void **state)
{
	struct noise noise = { .state = 3 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		double tau = k == 0 ? 0.02 : k == 1 ? 0.05 : 0.25;
		int alarms = 0;

		for (int trial = 0; trial < 500; trial++) {
			struct run_estimate e[STATS_RUNS_MAX];
			struct judgement j = { .want_set = 1 };
			int n = 0;

			while (j.want_set && n < STATS_RUNS_MAX) {
				double d = tau * noise_normal(&noise);

				e[n++] = (struct run_estimate){ .set = j.want_set, .n = 16, .d = d, .q = 1e-7, .d_raw = d };
				j = judge(e, n, tau, 20, 100, 0);
			}
			alarms += j.verdict == VERDICT_REGRESSION;
		}
		assert_int_equal(alarms, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variances_are_reported_separate),
		cmocka_unit_test(the_rule_follows_the_assumed_variance),
		cmocka_unit_test(clear_runs_outweigh_learned_noise),
		cmocka_unit_test(a_sign_is_no_evidence_where_cells_are_underpowered),
		cmocka_unit_test(learned_noise_raises_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
