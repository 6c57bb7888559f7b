/* Which targets are reported to slow their base, and which never are, however busy the machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "stats/stats.h"
#include "worker/internal.h"

static void the_lower_excess_counts(void **state)
{
	const struct bench_alone base = { 2, 1500 }, slower = { 3, 1500 }, clocked_up = { 2, 1800 }, unknown = { 3, 0 };
	const struct estimate pairs = { .m = 0.1, .m_code = 0.15 };
	(void)state;
	assert_true(fabs(alone_excess(&base, &slower, &pairs) - (log(1.5) - 0.15)) < 1e-12);
	assert_true(fabs(alone_excess(&base, &unknown, &pairs) - (log(1.5) - 0.1)) < 1e-12);
	assert_true(fabs(alone_excess(&base, &clocked_up, &pairs) + 0.1) < 1e-12); /* by cycles it would be more */
	assert_true(
		fabs(alone_excess(&clocked_up, &base, &pairs) - (log(1 / 1.2) - 0.15)) < 1e-12); /* by time it would be more */
}

static void present_pairs_count_without_a_clock(void **state)
{
	const struct estimate pairs = { .m = log(0.5), .m_code = log(0.5) };
	struct alone_round round = { .alone = { { 2, 0 }, { 2, 0 } }, .paired = { { 2, 0 }, { 2, 0 } } };
	(void)state;
	assert_true(fabs(alone_round_excess(&round, &pairs)) < 1e-12); /* measured with a target that was twice as fast */
	round.paired[BENCH_TARGET].ms = 1;
	assert_true(fabs(alone_round_excess(&round, &pairs) - log(2)) < 1e-12);
	round.paired[BENCH_TARGET].ms = 0.5; /* and no more than then */
	assert_true(fabs(alone_round_excess(&round, &pairs) - log(2)) < 1e-12);
	round = (struct alone_round){ .alone = { { 2, 1500 }, { 2, 1500 } }, .paired = { { 2, 1500 }, { 2, 1500 } } };
	assert_true(fabs(alone_round_excess(&round, &pairs) - log(2)) < 1e-12);
}

static void one_turn_that_agrees_ends_the_check(void **state)
{
	const double round[ALONE_ROUNDS] = { 0.5, 0.5, 0.04, 0.5, 0.5, 0.5 };
	(void)state;
	assert_int_equal(alone_judge(round, 0, 0.001), ALONE_MORE);
	assert_int_equal(alone_judge(round, 2, 0.001), ALONE_MORE);
	assert_int_equal(alone_judge(round, 3, 0.001), ALONE_SAME);
	assert_int_equal(alone_judge(round, ALONE_ROUNDS, 0.001), ALONE_SAME);
}

/* Rounds with `noise` around a base that is slowed by `factor`. */
static enum alone_result slowed(double factor, double noise, double se)
{
	static const double spread[ALONE_ROUNDS] = { 0.5, -1, 1.5, 0, -1.2, 0.2 };
	double round[ALONE_ROUNDS];
	for (int i = 0; i < ALONE_ROUNDS; i++)
		round[i] = log(factor) + noise * spread[i];
	return alone_judge(round, ALONE_ROUNDS, se);
}

static void a_slowed_base_is_reported(void **state)
{
	(void)state;
	assert_int_equal(slowed(1.12, 0.001, 0.001), ALONE_SLOWED);
	assert_int_equal(slowed(1.06, 0.001, 0.001), ALONE_SAME); /* too small to be certain */
	assert_int_equal(slowed(1.12, 0.001, 0.02), ALONE_SAME);  /* or too uncertain */
	assert_int_equal(slowed(3, 0.2, 0.05), ALONE_SLOWED);
	assert_int_equal(slowed(1.4, 0.2, 0.05), ALONE_SAME);
	assert_int_equal(slowed(1 / 1.3, 0.001, 0.001), ALONE_SAME); /* a base that is faster with the target */
}

static void without_a_clock_the_limit_is_higher(void **state)
{
	struct estimate pairs = { .runs = 3, .m = log(1 / 1.3), .m_code = log(1 / 1.3), .se = 0.001 };
	const struct bench_alone clocked = { 2, 1500 }, not_clocked = { 2, 0 }, unknown = { 0 };
	(void)state;
	assert_true(alone_suspects(&clocked, &clocked, &pairs));
	assert_false(alone_suspects(&not_clocked, &not_clocked, &pairs));
	assert_false(alone_suspects(&unknown, &clocked, &pairs));
	assert_false(alone_suspects(&clocked, &unknown, &pairs));
	pairs.se = 0.1;
	assert_false(alone_suspects(&clocked, &clocked, &pairs));
	pairs = (struct estimate){ .runs = 3, .m = log(1 / 1.9), .se = 0.001 };
	assert_true(alone_suspects(&not_clocked, &not_clocked, &pairs));
	pairs.runs = 0;
	assert_false(alone_suspects(&not_clocked, &not_clocked, &pairs));
}

/* Close to normal, standard deviation 1. */
static double draw(uint64_t *state)
{
	double sum = 0;
	for (int i = 0; i < 12; i++)
		sum += (double)(inputs_mix(++*state) >> 11) * 0x1p-53;
	return sum - 6;
}

/* One comparison of equal sides: pairs that vary by `pair` within each of a few runs, runs of one side by `alone`. */
static bool accuses(uint64_t *state, double alone, double pair)
{
	struct run_pairs run[3];
	struct run_estimate e[3];
	struct estimate all;
	struct rule rule;
	double round[ALONE_ROUNDS], beta;
	float values[3][2][16];
	rule_default(&rule, 1);
	for (int l = 0; l < 3; l++) {
		for (int i = 0; i < 16; i++) {
			double busy = exp(fabs(draw(state)) * alone);
			values[l][0][i] = (float)(busy * exp(pair * draw(state)));
			values[l][1][i] = (float)(busy * exp(pair * draw(state)));
		}
		run[l] = (struct run_pairs){ .set = 1, .n = 16, .base_ms = values[l][0], .target_ms = values[l][1] };
	}
	stats_runs(&rule, run, 3, e, &beta);
	stats_combine(&rule, e, 3, &all);
	for (int i = 0; i < ALONE_ROUNDS; i++)
		round[i] = alone * (draw(state) - draw(state)) - all.m;
	const struct bench_alone check[2] = { { exp(alone * draw(state)), 0 }, { exp(alone * draw(state)), 0 } };
	return alone_suspects(&check[0], &check[1], &all) && alone_judge(round, ALONE_ROUNDS, all.se) == ALONE_SLOWED;
}

static void a_busy_machine_rejects_no_side(void **state)
{
	uint64_t seed = 1;
	int accused = 0;
	(void)state;
	for (int i = 0; i < 20000; i++)
		accused += accuses(&seed, 0.02 * (i % 40), 0.02 * (i / 40 % 40));
	assert_in_range(accused, 0, 10); /* of variations that mostly exceed those of a busy machine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lower_excess_counts),
		cmocka_unit_test(present_pairs_count_without_a_clock),
		cmocka_unit_test(one_turn_that_agrees_ends_the_check),
		cmocka_unit_test(a_slowed_base_is_reported),
		cmocka_unit_test(without_a_clock_the_limit_is_higher),
		cmocka_unit_test(a_busy_machine_rejects_no_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
