/* The axis of changes: all of them are on it, it is linear, and its labels are round numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "web/html/html.h"

static struct axis of(double low_pct, double high_pct, double threshold_pct)
{
	struct axis axis = axis_empty();
	axis_cover(&axis, low_pct);
	axis_cover(&axis, NAN);
	axis_cover(&axis, high_pct);
	axis_finish(&axis, threshold_pct);
	return axis;
}

static void all_lies_on_it(void **state)
{
	static const double ends[][3] = { { -4.3, 0.2, 1.5 }, { -0.1, 0.1, 1.5 }, { -99, 0, 1.5 }, { 0, 12345, 1.5 },
		{ -60, 900, 1.5 }, { 0, 0, NAN }, { -2, 3, 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		struct axis axis = of(ends[i][0], ends[i][1], ends[i][2]);
		double low = axis_at(&axis, ends[i][0]), zero = axis_at(&axis, 0), high = axis_at(&axis, ends[i][1]);
		assert_true(low > 0 && low <= zero && zero <= high && high < 1);
		if (ends[i][2] > 0)
			assert_true(axis_at(&axis, -ends[i][2]) > 0 && axis_at(&axis, ends[i][2]) < 1);
	}
}

/* Losses of -54 and -62 % are as far from each other as -4 and -12 %. */
static void equal_differences_have_equal_lengths(void **state)
{
	struct axis axis = of(-62, 1, 1.5);
	(void)state;
	assert_true(axis_at(&axis, -54) - axis_at(&axis, -62) > 0.1);
	assert_true(fabs(axis_at(&axis, -54) - axis_at(&axis, -62) - (axis_at(&axis, -4) - axis_at(&axis, -12))) < 1e-9);
}

static void ticks_are_round_rising_and_separate(void **state)
{
	static const double ends[][2] = { { -4.3, 0.2 }, { -0.1, 0.1 }, { -99, 0 }, { 0, 12345 }, { -60, 900 } };
	static const int wanted[] = { 5, 4, 4, 5, 4 };
	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		struct axis axis = of(ends[i][0], ends[i][1], 1.5);
		double tick[AXIS_TICKS_MAX];
		int n = axis_ticks(&axis, 0.1, tick), zeros = 0;
		for (int k = 0; k < n; k++) {
			double step = tick[1] - tick[0], digits = step / pow(10, floor(log10(step) + 1e-9));
			zeros += tick[k] == 0;
			assert_true(fabs(digits - round(digits)) < 1e-6);
			assert_true(fabs(tick[k] / step - round(tick[k] / step)) < 1e-6);
			assert_true(k == 0 || axis_at(&axis, tick[k]) - axis_at(&axis, tick[k - 1]) > 0.099);
		}
		assert_int_equal(zeros, 1);
		if (n < wanted[i])
			fail_msg("%d figures beside axis %zu", n, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_lies_on_it),
		cmocka_unit_test(equal_differences_have_equal_lengths),
		cmocka_unit_test(ticks_are_round_rising_and_separate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
