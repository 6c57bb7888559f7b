/* Steps and drift in series of ratios: computed by hand, and on seeded noise with outliers. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"

static void near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g +- %g", value, wanted, error);
}

/* Alternating by +-0.1 %, with a step of `step` at `at`. */
static void zigzag(double *x, int n, int at, double step)
{
	for (int i = 0; i < n; i++)
		x[i] = (i % 2 ? 0.001 : -0.001) + (i >= at ? step : 0);
}

static void noise_by_hand(void **state)
{
	double x[60] = { 0 };

	(void)state;
	near(changepoint_noise(x, 60), 0.0005, 1e-12); /* rounding is not noise */
	near(changepoint_noise(x, 1), 0.0005, 1e-12);
	zigzag(x, 60, 60, 0);
	near(changepoint_noise(x, 60), 1.4826 * 0.002 / sqrt(2), 1e-9);
	const double three[] = { 0, 0.01, 0.04 }; /* the median of two differences is their mean */
	near(changepoint_noise(three, 3), 1.4826 * 0.02 / sqrt(2), 1e-9);
	near(changepoint_noise(three, 2), 1.4826 * 0.01 / sqrt(2), 1e-9);
	x[30] = 0.5; /* one outlier moves two differences of 59 */
	near(changepoint_noise(x, 60), 1.4826 * 0.002 / sqrt(2), 1e-9);
}

static void step_is_found_where_it_is(void **state)
{
	double x[100];
	struct changepoint c;

	(void)state;
	zigzag(x, 30, 20, 0.02);
	assert_true(changepoint_find(x, 30, &c));
	assert_int_equal(c.at, 20);
	near(c.step, 0.02, 0.0005);
	zigzag(x, 30, 20, -0.02);
	assert_true(changepoint_find(x, 30, &c));
	assert_int_equal(c.at, 20);
	near(c.step, -0.02, 0.0005);
	zigzag(x, 30, 30, 0);
	assert_false(changepoint_find(x, 30, &c));
	/* indices are the caller's, also when only the last sixty count */
	zigzag(x, 100, 80, 0.02);
	assert_true(changepoint_find(x, 100, &c));
	assert_int_equal(c.at, 80);
	zigzag(x, 100, 30, 0.02);
	assert_false(changepoint_find(x, 100, &c));
}

static void ends_need_points(void **state)
{
	double x[40];
	struct changepoint c;

	(void)state;
	zigzag(x, 40, 7, 0.05);
	for (int n = 0; n < 11; n++)
		assert_false(changepoint_find(x, n, &c));
	zigzag(x, 40, 20, 0.05);
	assert_false(changepoint_find(x, 21, &c)); /* one point of a new level may be an outlier */
	assert_true(changepoint_find(x, 23, &c));
	assert_int_equal(c.at, 20);
}

static void small_steps_are_left(void **state)
{
	double x[60];
	struct changepoint c;

	(void)state;
	memset(x, 0, sizeof x);
	for (int i = 30; i < 60; i++)
		x[i] = 0.0029;
	assert_false(changepoint_find(x, 60, &c));
	for (int i = 30; i < 60; i++)
		x[i] = 0.0031;
	assert_true(changepoint_find(x, 60, &c));
	assert_int_equal(c.at, 30);
}

static void outliers_are_named(void **state)
{
	double x[40];

	(void)state;
	zigzag(x, 40, 40, 0);
	assert_false(changepoint_is_odd(x, 40));
	x[39] = 0.02;
	assert_true(changepoint_is_odd(x, 40));
	x[38] = 0.02; /* its neighbour agrees */
	assert_false(changepoint_is_odd(x, 40));
	x[38] = 0;
	assert_true(changepoint_is_odd(x + 28, 12));
	assert_false(changepoint_is_odd(x + 29, 11)); /* too few points */
	/* of the twenty points before it, whose number is no more than there are */
	for (int n = 12; n <= 23; n++) {
		double *exact = malloc((size_t)n * sizeof *exact);
		zigzag(exact, n, n, 0);
		assert_false(changepoint_is_odd(exact, n));
		exact[n - 1] = 0.02;
		assert_true(changepoint_is_odd(exact, n));
		free(exact);
	}
	/* below the older points, at the median of the newest twenty */
	zigzag(x, 40, 18, 0.05);
	x[39] = 0.1;
	assert_true(changepoint_is_odd(x, 40));
	x[39] = 0.053;
	assert_false(changepoint_is_odd(x, 40));
	x[39] = 0.058; /* noise 0.21 %, so the limit is 0.84 % */
	assert_false(changepoint_is_odd(x, 40));
	x[39] = 0.059;
	assert_true(changepoint_is_odd(x, 40));
}

static void far_is_every_one_of_five(void **state)
{
	double x[8] = { 0, 0, 0, 0.06, 0.07, 0.06, 0.07, 0.06 };

	(void)state;
	assert_true(changepoint_is_far(x, 8, 0));
	assert_true(changepoint_is_far(x, 8, 0.13)); /* in both directions */
	assert_true(changepoint_is_far(x + 3, 5, 0));
	assert_false(changepoint_is_far(x + 4, 4, 0)); /* four points are too few */
	assert_false(changepoint_is_far(x, 8, 0.02));
	assert_false(changepoint_is_far(x, 7, 0));
	x[5] = 0.05;
	assert_false(changepoint_is_far(x, 8, 0));
}

/* Equal points have a noise of 0.05 %; the level of w of them is known to 0.15 % / sqrt(w). */
static void newest_points_are_below_a_limit(void **state)
{
	double x[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = i < 10 ? 0.02 : 0.001;
	assert_true(changepoint_is_below(x, 20, 17, 0.001 + 0.00087));
	assert_false(changepoint_is_below(x, 20, 17, 0.001 + 0.00086));
	assert_false(changepoint_is_below(x, 20, 16, 0.001 + 0.00086)); /* four points are no more than three */
	assert_true(changepoint_is_below(x, 20, 15, 0.001 + 0.00068));
	assert_false(changepoint_is_below(x, 20, 15, 0.001 + 0.00066));
	assert_true(changepoint_is_below(x, 20, 12, 0.001 + 0.00054));
	assert_false(changepoint_is_below(x, 20, 0, 0.001 + 0.00052));
	assert_false(changepoint_is_below(x, 20, 18, 1)); /* two points since */
	assert_true(changepoint_is_below(x, 20, 8, 0.001 + 0.00054));
}

static void level_of_the_newest_eight(void **state)
{
	double x[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = i < 12 ? 1 : 0.0001 * (i - 12);
	near(changepoint_level(x, 20), 0.00035, 1e-9);
	near(changepoint_level(x + 12, 3), 0.0001, 1e-9);
	assert_true(isnan(changepoint_level(x, 0)));
}

static void drift_by_hand(void **state)
{
	double x[20], loss;

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = 0.001 * i; /* 0 .. 1.9 %: noise 0.105 %, so 0.141 % are subtracted from the last five */
	assert_true(changepoint_drift(x, 20, 0.0155, &loss));
	near(loss, 0.017, 1e-12);
	assert_false(changepoint_drift(x, 20, 0.0156, &loss));
	assert_false(changepoint_drift(x, 18, 0.015, &loss));
	assert_false(changepoint_drift(x, 4, 0.0001, &loss));
}

/* Twenty noisy points decide what five cannot. */
static void more_points_report_more(void **state)
{
	double x[20], loss;

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = 0.018 + (i % 2 ? 0.0015 : -0.0015); /* noise 0.315 % */
	assert_false(changepoint_drift(x, 8, 0.015, &loss));
	assert_true(changepoint_drift(x, 20, 0.015, &loss));
	near(loss, 0.018, 1e-12);
	x[19] = 0.001; /* whatever the level of those before: the newest commit has fixed it */
	assert_false(changepoint_drift(x, 20, 0.015, &loss));
}

static void neighbours_confirm_a_step(void **state)
{
	double x[24];

	(void)state;
	zigzag(x, 24, 16, 0.01);
	near(changepoint_step(x, 24, 16), 0.01, 1e-4);
	assert_true(changepoint_step(x, 24, 17) < 0.0105);
	near(changepoint_step(x, 24, 24), 0, 0);
	assert_int_equal(changepoint_pair(0), -1); /* around the candidate first */
	assert_true(changepoint_confirms(0.01, 0.0095, 0.001));
	assert_true(changepoint_confirms(-0.01, -0.0095, 0.001));
	assert_false(changepoint_confirms(0.01, -0.0095, 0.001));
	assert_false(changepoint_confirms(0.01, 0.0075, 0.001)); /* may be half of it, or less */
	assert_false(changepoint_confirms(0.004, 0.0029, 0.0001));
}

/* A slope is never a step: no neighbours are as far apart as the levels. */
static void a_slope_is_no_step(void **state)
{
	double x[60];
	struct changepoint c;
	int candidates = 0;

	(void)state;
	memset(x, 0, sizeof x);
	for (int i = 20; i < 28; i++)
		x[i] = x[i - 1] + 0.0025;
	for (int i = 28; i < 60; i++)
		x[i] = x[27];
	for (int n = 20; n < 60; n++)
		for (int tried = 0; changepoint_find(x, n, &c) && tried < CHANGEPOINT_PAIRS; tried++) {
			int second = c.at + changepoint_pair(tried) + 1;
			candidates++;
			if (second <= n - CHANGEPOINT_RIGHT_MIN)
				assert_false(changepoint_confirms(changepoint_step(x, n, second), x[second] - x[second - 1], 0));
		}
	assert_true(candidates > 0);
}

/* A measurement of a commit; `wild`: occasionally it is 1..3 % off. */
static double measure(struct noise *n, double truth, double sd, double wild)
{
	double v = truth + sd * noise_normal(n);

	return noise_uniform(n) < wild ? v + 0.01 + 0.02 * noise_uniform(n) : v;
}

static double middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* The next point of a series as the daemon measures it: an outlier is measured twice more. */
static void add_point(struct noise *n, double *x, int at, double truth, double wild)
{
	x[at] = measure(n, truth, 0.0015, wild);
	if (changepoint_is_odd(x, at + 1))
		x[at] = middle(x[at], measure(n, truth, 0.0015, wild), measure(n, truth, 0.0015, wild));
}

static void noise_with_outliers_has_no_change_point(void **state)
{
	struct noise n = { .state = 7 };
	int candidates = 0;

	(void)state;
	for (int series = 0; series < 40; series++) {
		double x[150];
		struct changepoint c;

		for (int i = 0; i < 150; i++) {
			add_point(&n, x, i, 0.004, 0.02);
			candidates += changepoint_find(x, i + 1, &c);
		}
	}
	/* 6,000 points; longer runs of this rule show one candidate in 139,000 */
	if (candidates > 1)
		fail_msg("%d candidates in 6,000 points without a step", candidates);
}

static void finds_steps_soon(void **state)
{
	static const struct {
		double step;
		int found_of_40, position_error;
	} row[] = { { 0.005, 38, 3 }, { 0.010, 39, 2 }, { -0.010, 39, 2 }, { 0.030, 40, 1 } };
	struct noise n = { .state = 11 };

	(void)state;
	for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
		int found = 0;

		for (int series = 0; series < 40; series++) {
			double x[40];
			struct changepoint c = { .at = -1 };

			for (int i = 0; i < 30; i++)
				add_point(&n, x, i, 0, 0.02);
			for (int i = 30; i < 40 && c.at < 0; i++) {
				add_point(&n, x, i, row[k].step, 0.02);
				if (!changepoint_find(x, i + 1, &c))
					c.at = -1;
			}
			found += abs(c.at - 30) <= row[k].position_error;
		}
		if (found < row[k].found_of_40)
			fail_msg("a step of %g: %d of 40 found within ten points", row[k].step, found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_by_hand),
		cmocka_unit_test(step_is_found_where_it_is),
		cmocka_unit_test(ends_need_points),
		cmocka_unit_test(small_steps_are_left),
		cmocka_unit_test(outliers_are_named),
		cmocka_unit_test(far_is_every_one_of_five),
		cmocka_unit_test(newest_points_are_below_a_limit),
		cmocka_unit_test(level_of_the_newest_eight),
		cmocka_unit_test(drift_by_hand),
		cmocka_unit_test(more_points_report_more),
		cmocka_unit_test(neighbours_confirm_a_step),
		cmocka_unit_test(a_slope_is_no_step),
		cmocka_unit_test(noise_with_outliers_has_no_change_point),
		cmocka_unit_test(finds_steps_soon),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
