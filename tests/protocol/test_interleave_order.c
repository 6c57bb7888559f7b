/* test_interleave_order.c - the order of turns: a periodic disturbance of calls, whichever side makes them, does not cause a
 * verdict. Sessions are simulated and judged like real ones. */
/* Left to `make check`: takes seconds, only computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "noise.h"
#include "protocol/protocol.h"
#include "verdict/verdict.h"

enum { PAIRS = 20, SIDES = 2 };

#define SLOW 1.49 /* factor by which a disturbed call is longer */

static struct noise dice = { .state = 1 };

typedef int order_fn(int n, int first, int round, int k);

/* The earlier order of turns: a period of four. */
static int abba(int n, int first, int round, int k)
{
	return (first + (round & 1 ? n - 1 - k : k)) % n;
}

/* A run of equal programs, of whose calls every `period`-th takes longer. `warm`: calls before each one that is timed. */
static void take(order_fn *order, int first, int period, int warm, float ms[SIDES][PAIRS])
{
	int call = (int)(noise_uniform(&dice) * period);

	for (int pair = 0; pair < PAIRS; pair++)
		for (int k = 0; k < SIDES; k++) {
			call += 1 + warm;
			ms[order(SIDES, first, pair, k)][pair] =
				(float)((1 + 0.003 * noise_normal(&dice)) * (call % period == 0 ? SLOW : 1));
		}
}

/* A comparison, run after run until it is decided. */
static enum verdict judge(order_fn *order, int period, int warm)
{
	static float ms[STATS_RUNS_MAX][SIDES][PAIRS];
	struct run_pairs run[STATS_RUNS_MAX];
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j = { .want_set = 1 };
	struct rule rule;
	int turn = (int)(noise_uniform(&dice) * 12);

	rule_default(&rule, 1);
	for (int n = 0; n < STATS_RUNS_MAX && j.want_set != 0; n++) {
		double beta;

		take(order, order_first(SIDES, 0, 1, turn + n), period, warm, ms[n]);
		run[n] = (struct run_pairs){ .set = j.want_set, .n = PAIRS, .base_ms = ms[n][0], .target_ms = ms[n][1] };
		stats_runs(&rule, run, n + 1, e, &beta);
		verdict_judge(&rule, 1.5, false, e, n + 1, &j);
	}
	return j.verdict;
}

static int false_words(order_fn *order, int period, int warm, int comparisons)
{
	int n = 0;

	for (int i = 0; i < comparisons; i++) {
		enum verdict v = judge(order, period, warm);

		n += v == VERDICT_REGRESSION || v == VERDICT_IMPROVEMENT;
	}
	return n;
}

static void periodic_slow_calls_give_no_verdict(void **state)
{
	static const int periods[] = { 2, 3, 4, 5, 6, 7, 8, 12, 16 };

	(void)state;
	for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++)
		for (int warm = 0; warm <= 1; warm++)
			assert_int_equal(false_words(order_side, periods[i], warm, 300), 0);
}

/* That the test above can fail. */
static void a_period_of_four_is_found_by_one_of_four(void **state)
{
	(void)state;
	assert_true(false_words(abba, 4, 0, 3000) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periodic_slow_calls_give_no_verdict),
		cmocka_unit_test(a_period_of_four_is_found_by_one_of_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
