/* Slow calls: at equal clocks, in a cell's own calls and in those of its group. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/tail.h"

enum { N = 8 };

static struct tail counted(const float *base, const float *target, const float *mhz, double beta)
{
	struct launch_pairs launch = {
		.set = 1, .n = N, .base_ms = base, .target_ms = target, .base_mhz = mhz, .target_mhz = mhz
	};
	struct tail t = { .total = 0 };
	tail_count(&t, &launch, beta);
	return t;
}

static const float even[N] = { 100, 100, 100, 100, 100, 100, 100, 100 };

static void slow_is_1_04_times_the_typical_call(void **state)
{
	const float calls[N] = { 100, 101, 99, 100, 103.9f, 104.6f, 150, 100 }; /* median 100.5, limit 104.52 */
	struct tail t = counted(even, calls, NULL, 0);
	(void)state;
	assert_int_equal(t.slow[0], 0);
	assert_int_equal(t.slow[1], 2);
	assert_int_equal(t.total, N);
}

static void a_lower_clock_makes_no_slow_call(void **state)
{
	const float mhz[N] = { 1700, 1700, 1700, 1600, 1700, 1700, 1700, 1700 }, none[N] = { 0 };
	const float calls[N] = { 100, 100, 125, 106.25f, 100, 100, 100, 100 }; /* one by its clock, one by itself */
	(void)state;
	assert_int_equal(counted(even, calls, NULL, -1).slow[1], 2);
	assert_int_equal(counted(even, calls, mhz, 0).slow[1], 2);
	assert_int_equal(counted(even, calls, none, -1).slow[1], 2);
	assert_int_equal(counted(even, calls, mhz, -1).slow[1], 1);
}

static struct tail of(int base, int target, int total)
{
	return (struct tail){ .slow = { base, target }, .total = total };
}

static bool alone(struct tail own, bool (*says)(const struct tail *, const struct tail *))
{
	return says(&own, &own);
}

static void a_cells_own_calls(void **state)
{
	(void)state;
	assert_true(alone(of(2, 24, 192), tail_is));
	assert_false(alone(of(24, 2, 192), tail_is));
	assert_false(alone(of(10, 19, 192), tail_is));   /* by chance */
	assert_false(alone(of(0, 400, 20000), tail_is)); /* sure, but two points only */
	assert_false(alone(of(0, 0, 0), tail_is));
	assert_false(alone(of(2, 6, 32), tail_is));
	assert_true(alone(of(2, 9, 100), tail_is_open)); /* suspected before it is called */
	assert_false(alone(of(2, 9, 100), tail_is));
	assert_true(alone(of(10, 45, 500), tail_is));
	assert_false(alone(of(10, 45, 500), tail_is_open));
	assert_false(alone(of(10, 12, 500), tail_is_open));
	assert_false(alone(of(0, 0, 0), tail_is_open));
}

/* Six cells of 4 pairs and two launches, where every tenth call is slow: none shows it alone. */
static void long_calls_show_it_together(void **state)
{
	struct tail cell = of(0, 1, 8), quiet = of(0, 0, 8), group = { .total = 0 };
	(void)state;
	for (int i = 0; i < 6; i++)
		tail_pool(&group, i < 5 ? &cell : &quiet);
	assert_int_equal(group.total, 48);
	assert_false(tail_is(&cell, &group));
	assert_true(tail_is_open(&cell, &group)); /* p 0.028: all of them are called again */
	assert_true(tail_is_open(&quiet, &group));
	group = of(0, 12, 120);
	assert_true(tail_is(&cell, &group));
	assert_false(tail_is(&quiet, &group)); /* it has none of them */
	assert_false(tail_is_open(&quiet, &group));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_is_1_04_times_the_typical_call),
		cmocka_unit_test(a_lower_clock_makes_no_slow_call),
		cmocka_unit_test(a_cells_own_calls),
		cmocka_unit_test(long_calls_show_it_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
