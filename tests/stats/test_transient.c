/* test_transient.c - only the start-up phase of a process, until it is steady, is excluded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "noise.h"
#include "stats/stats.h"

static void steady_calls_stay(void **state)
{
	int cuts = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct noise r = { .state = seed };
		double ms[40];
		int cut;

		for (int i = 0; i < 40; i++)
			ms[i] = 1 + 0.01 * noise_normal(&r);
		assert_true(fabs(transient_median(ms, 40, &cut) - 1) < 0.01);
		cuts += cut > 0;
	}
	assert_true(cuts <= 4);
}

static void a_settling_start_is_cut(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct noise r = { .state = seed };
		double ms[60], plain;
		int cut;

		for (int i = 0; i < 60; i++)
			ms[i] = 1 - 0.1 * exp(-i / 10.0) + 0.002 * noise_normal(&r);
		plain = transient_median(ms, 7, &cut);
		assert_int_equal(cut, 0);
		assert_true(plain < 0.95);
		assert_true(fabs(transient_median(ms, 60, &cut) - 1) < 0.006);
		assert_true(cut >= 10 && cut <= 30);
	}
}

static void few_calls_are_not_cut(void **state)
{
	double two[] = { 1, 3 }, slow_first[] = { 9, 1, 1, 1, 1, 1, 1, 1, 1 };
	int cut;

	(void)state;
	assert_true(transient_median(two, 2, NULL) == 2);
	assert_true(transient_median(slow_first, 9, &cut) == 1);
}

/* Up to half of the calls may be cut. */
static void half_of_the_calls_may_be_the_start(void **state)
{
	double ms[14];
	int cut;

	(void)state;
	for (int i = 0; i < 14; i++)
		ms[i] = i < 7 ? 2 : 1;
	assert_true(transient_median(ms, 14, &cut) == 1);
	assert_int_equal(cut, 7);
}

/* A difference of halves counts from four standard errors of a difference of medians on: 3.3 times the calls' deviation here. */
static void a_difference_is_compared_with_the_noise(void **state)
{
	double ms[40];
	int cut;

	(void)state;
	for (int step = 0; step < 2; step++) {
		for (int i = 0; i < 40; i++)
			ms[i] = 1 + 0.01 * (i % 2 ? 1 : -1) + (i < 20 ? (step ? 0.045 : 0.025) : 0);
		transient_median(ms, 40, &cut);
		assert_int_equal(cut > 0, step);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_calls_stay),
		cmocka_unit_test(a_settling_start_is_cut),
		cmocka_unit_test(few_calls_are_not_cut),
		cmocka_unit_test(half_of_the_calls_may_be_the_start),
		cmocka_unit_test(a_difference_is_compared_with_the_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
