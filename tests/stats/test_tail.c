/* Slow calls: which ones are slow, at equal clocks, by how much, and when more of them are more than chance. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "stats/stats.h"

enum { N = 8 };

static struct tail counted(int n, const float *base, const float *target, const float *mhz, double beta)
{
	struct run_pairs run = { .set = 1, .n = n, .base_ms = base, .target_ms = target, .base_mhz = mhz, .target_mhz = mhz };
	struct tail t = { .calls = 0 };
	tail_count(&t, &run, beta);
	return t;
}

static const float even[N] = { 100, 100, 100, 100, 100, 100, 100, 100 };

static void slow_is_1_04_times_the_typical_call(void **state)
{
	const float calls[N] = { 100, 101, 99, 100, 103.9f, 104.6f, 150, 100 }; /* median 100.5, limit 104.52 */
	struct tail t = counted(N, even, calls, NULL, 0);
	(void)state;
	assert_int_equal(t.side[TAIL_BASE].slow, 0);
	assert_int_equal(t.side[TAIL_TARGET].slow, 2);
	assert_int_equal(t.calls, N);
	assert_int_equal(t.runs, 1);
	assert_true(fabs(t.side[TAIL_TARGET].longer - (104.6 + 150 - 201) / 100.5) < 1e-5);
	assert_true(tail_share(&t, TAIL_TARGET) == 0.25 && tail_share(&t, TAIL_BASE) == 0);
	assert_true(fabs(tail_cost(&t) - log1p((104.6 + 150 - 201) / 100.5 / 8)) < 1e-6);
}

static void two_or_three_calls_have_no_typical_one(void **state)
{
	const float calls[3] = { 100, 100, 200 };
	struct tail t = counted(3, even, calls, NULL, 0);
	(void)state;
	assert_int_equal(t.calls, 0);
	assert_int_equal(t.side[TAIL_TARGET].slow, 0);
	assert_true(tail_p(&t, TAIL_TARGET) == 1 && tail_cost(&t) == 0);
}

/* Runs of two long calls each: every second one completes a block. */
static void few_calls_of_two_runs_have_a_typical_one(void **state)
{
	static const float first[2] = { 100, 101 }, slow[2] = { 125, 100 }, lower[2] = { 1700, 1360 };
	struct tail_block block = { .n = 0 };
	struct tail t = { .calls = 0 };
	struct run_pairs run = { .set = 1, .n = 2, .base_ms = even, .target_ms = first };

	(void)state;
	tail_count_in_block(&t, &block, &run, 0);
	assert_int_equal(t.calls, 0);
	run.target_ms = slow;
	tail_count_in_block(&t, &block, &run, 0);
	assert_true(t.calls == 4 && t.runs == 2);
	assert_true(t.side[TAIL_TARGET].slow == 1 && t.side[TAIL_BASE].slow == 0);
	assert_true(fabs(t.side[TAIL_TARGET].longer - (125 / 100.5 - 1)) < 1e-6);
	assert_true(t.side[TAIL_TARGET].spread == 0.5); /* one of two calls of a run */
	tail_count_in_block(&t, &block, &run, 0);       /* begins another block */
	assert_true(t.calls == 4 && t.runs == 2);
	/* at equal clocks: the slow call of each run was made at four fifths of the clock */
	block.n = block.runs = 0;
	t = (struct tail){ .calls = 0 };
	run = (struct run_pairs){ .set = 1,
		.n = 2,
		.base_ms = even,
		.target_ms = (const float[]){ 100, 125 },
		.base_mhz = lower,
		.target_mhz = lower };
	for (int i = 0; i < 2; i++)
		tail_count_in_block(&t, &block, &run, -1);
	assert_true(t.calls == 4 && t.side[TAIL_TARGET].slow == 0);
	/* a run of enough calls is counted at once */
	run = (struct run_pairs){ .set = 1, .n = N, .base_ms = even, .target_ms = even };
	tail_count_in_block(&t, &block, &run, 0);
	assert_true(t.calls == 4 + N && t.runs == 3);
}

/* Runs of two calls with as many slow ones as chance gives: 1 has two, 6 have one, 9 none. */
static void the_error_of_a_share_is_the_same_in_blocks(void **state)
{
	static const int slow[16] = { 2, 0, 1, 1, 1, 1, 1, 1 };
	struct tail_block block = { .n = 0 };
	struct tail t = { .calls = 0 };

	(void)state;
	for (int i = 0; i < 16; i++) {
		const float target[2] = { slow[i] > 0 ? 125 : 100, slow[i] > 1 ? 125 : 100 };
		const struct run_pairs run = { .set = 1, .n = 2, .base_ms = even, .target_ms = target };

		tail_count_in_block(&t, &block, &run, 0);
	}
	assert_true(t.runs == 16 && t.calls == 32 && t.side[TAIL_TARGET].slow == 8);
	double likely = 8.5 / 33, by_chance = likely * (1 - likely) / 32;

	assert_true(fabs(tail_share_variance(&t, TAIL_TARGET) / by_chance - (6 + 16.0) / (6 + 15)) < 1e-12);
}

static void a_lower_clock_makes_no_slow_call(void **state)
{
	const float mhz[N] = { 1700, 1700, 1700, 1600, 1700, 1700, 1700, 1700 }, none[N] = { 0 };
	const float calls[N] = { 100, 100, 125, 106.25f, 100, 100, 100, 100 }; /* one by its clock, one independently */
	(void)state;
	assert_int_equal(counted(N, even, calls, NULL, -1).side[TAIL_TARGET].slow, 2);
	assert_int_equal(counted(N, even, calls, mhz, 0).side[TAIL_TARGET].slow, 2);
	assert_int_equal(counted(N, even, calls, none, -1).side[TAIL_TARGET].slow, 2);
	assert_int_equal(counted(N, even, calls, mhz, -1).side[TAIL_TARGET].slow, 1);
}

/* Slow calls that each take half as long again, or `longer`. */
static struct tail of(int base, int target, int calls, double longer)
{
	return (struct tail){ .runs = calls / 32 + 1,
		.calls = calls,
		.side = { { .slow = base, .longer = base * longer }, { .slow = target, .longer = target * longer } } };
}

static void more_slow_calls_are_significant(void **state)
{
	struct tail t = of(2, 24, 192, 0.25);
	(void)state;
	assert_true(tail_p(&t, TAIL_TARGET) < 1e-5 && tail_p(&t, TAIL_BASE) > 0.99);
	assert_true(tail_matters(&t, TAIL_TARGET, 0.015) && !tail_matters(&t, TAIL_BASE, 0.015));
	t = of(10, 19, 192, 0.25);
	assert_true(tail_p(&t, TAIL_TARGET) > 0.05);
	/* two percentage points matter where they cost enough */
	t = of(0, 400, 20000, 0.25);
	assert_true(tail_p(&t, TAIL_TARGET) < 1e-6 && !tail_matters(&t, TAIL_TARGET, 0.015));
	t = of(0, 400, 20000, 1.0);
	assert_true(tail_matters(&t, TAIL_TARGET, 0.015));
	/* six percentage points matter at any cost, also of the base */
	t = of(0, 12, 192, 0.05);
	assert_true(tail_cost(&t) < 0.015 && tail_matters(&t, TAIL_TARGET, 0.015));
	t = of(12, 0, 192, 0.05);
	assert_true(tail_matters(&t, TAIL_BASE, 0.015) && !tail_matters(&t, TAIL_TARGET, 0.015));
}

/* Twelve runs of 8 calls, one of them slow in each, or all in one: the same share, with less certainty. */
static void a_share_is_known_by_its_runs(void **state)
{
	struct tail even_ones = { .calls = 0 }, together = { .calls = 0 };
	const float one[N] = { 100, 100, 100, 125, 100, 100, 100, 100 }, none[N] = { 100, 100, 100, 100, 100, 100, 100, 100 };
	(void)state;
	for (int i = 0; i < 12; i++) {
		struct tail run = counted(N, none, one, NULL, 0);
		tail_pool(&even_ones, &run);
		run = counted(N, none, i % 3 ? none : one, NULL, 0);
		for (int k = 0; k < 2 && i % 3 == 0; k++) { /* three in one run */
			run.side[TAIL_TARGET].slow++;
			run.side[TAIL_TARGET].spread = (double)run.side[TAIL_TARGET].slow * run.side[TAIL_TARGET].slow / N;
		}
		tail_pool(&together, &run);
	}
	assert_int_equal(even_ones.side[TAIL_TARGET].slow, together.side[TAIL_TARGET].slow);
	assert_int_equal(even_ones.runs, 12);
	double by_chance = 0.125 * 0.875 / 96;
	assert_true(tail_share_variance(&even_ones, TAIL_TARGET) < 0.6 * by_chance);
	assert_true(tail_share_variance(&together, TAIL_TARGET) > 1.3 * by_chance);
	/* of twelve runs: 8 slow calls in 2 runs with 3 and 5 of them, (9 + 25) / 8 = 4.25 */
	struct tail t = { .runs = 12, .calls = 96, .side = { { 0 }, { .slow = 8, .spread = 4.25 } } };
	double share = 8 / 96.0, likely = 8.5 / 97;
	double seen = (4.25 - 8 * share) / (share * (1 - share));
	assert_true(
		fabs(tail_share_variance(&t, TAIL_TARGET) / (likely * (1 - likely) / 96 * (6 + seen) / (6 + 11)) - 1) < 1e-12);
	t.runs = 1; /* one run shows nothing about runs */
	assert_true(fabs(tail_share_variance(&t, TAIL_TARGET) / (likely * (1 - likely) / 96) - 1) < 1e-12);
	assert_true(tail_share_variance(&even_ones, TAIL_BASE) > 0); /* none seen does not mean none at all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_is_1_04_times_the_typical_call),
		cmocka_unit_test(two_or_three_calls_have_no_typical_one),
		cmocka_unit_test(few_calls_of_two_runs_have_a_typical_one),
		cmocka_unit_test(the_error_of_a_share_is_the_same_in_blocks),
		cmocka_unit_test(a_lower_clock_makes_no_slow_call),
		cmocka_unit_test(more_slow_calls_are_significant),
		cmocka_unit_test(a_share_is_known_by_its_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
