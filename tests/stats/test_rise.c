/* Where a level rose: computed by hand, with times of a simulated device, and on seeded noise. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "noise.h"
#include "stats/stats.h"

/* One commit per point; those in [begin, end) become slower by `each`. */
static void add_loss(double *x, int n, int begin, int end, double each)
{
	for (int i = begin; i < n; i++)
		x[i] += each * ((i < end ? i : end - 1) - begin + 1);
}

static void positions_in_line(int64_t *position, int n)
{
	for (int i = 0; i < n; i++)
		position[i] = i + 1;
}

static void range_is(const double *x, int n, double least, int from, int to, double step)
{
	int64_t position[CHANGEPOINT_POINTS_MAX];
	struct rise r = { .from = -1 };
	positions_in_line(position, n);
	assert_true(rise_find(x, position, n, least, &r));
	assert_int_equal(r.from, from);
	assert_int_equal(r.to, to);
	assert_true(fabs(r.step - step) < 1e-12);
}

static void by_hand(void **state)
{
	double x[40] = { 0 };
	(void)state;
	add_loss(x, 20, 10, 11, 0.02);
	range_is(x, 20, 0.015, 9, 10, 0.02); /* at once */
	add_loss(x, 20, 10, 11, -0.02);
	add_loss(x, 20, 8, 16, 0.0025);
	range_is(x, 20, 0.015, 7, 15, 0.02); /* gradually */
	range_is(x, 16, 0.015, 7, 15, 0.02); /* and still rising */
	range_is(x, 2, 0, 0, 1, 0);
}

static void drift_that_pauses(void **state)
{
	double x[40] = { 0 };
	(void)state;
	add_loss(x, 40, 8, 12, 0.0025);
	add_loss(x, 40, 30, 34, 0.0025);
	range_is(x, 40, 0.015, 7, 33, 0.02);
}

/* Nearly all of a rise at one commit, after or before a small one: that commit alone. */
static void most_of_a_rise_at_one_commit(void **state)
{
	double x[40];
	(void)state;
	for (int i = 0; i < 40; i++)
		x[i] = 1 + (i >= 30 ? 0.02 : i >= 8 ? 0.018 : 0);
	range_is(x, 40, 0.015, 7, 8, 0.018);
	for (int i = 8; i < 30; i++)
		x[i] = 1.002;
	range_is(x, 40, 0.015, 29, 30, 0.018);
	for (int i = 8; i < 30; i++)
		x[i] = 1.004; /* four fifths are not nearly all */
	range_is(x, 40, 0.015, 7, 30, 0.02);
}

/* A reported step, removed by a quarter of a percent too little, is not included. */
static void reported_step_taken_out_badly(void **state)
{
	double x[36] = { 0 };
	(void)state;
	add_loss(x, 36, 10, 11, 0.0025);
	add_loss(x, 36, 20, 28, 0.0027);
	range_is(x, 36, 0.018, 19, 27, 0.0216);
}

static void no_rise_where_there_is_none(void **state)
{
	double x[20] = { 0 };
	int64_t position[20];
	struct rise r;
	(void)state;
	positions_in_line(position, 20);
	assert_false(rise_find(x, position, 0, 0.01, &r));
	assert_false(rise_find(x, position, 1, 0.01, &r));
	assert_false(rise_find(x, position, 20, 0.01, &r));
	add_loss(x, 20, 10, 11, -0.02);
	assert_false(rise_find(x, position, 20, 0.01, &r)); /* it became faster */
}

/* Unmeasured commits between points: a straight line is interpolated by commits. */
static void unmeasured_commits(void **state)
{
	const int64_t position[] = { 1, 2, 3, 4, 5, 6, 14, 15, 16, 17, 18, 19 };
	const double x[] = { 0, 0, 0, 0, 0, 0, 0.016, 0.018, 0.02, 0.02, 0.02, 0.02 };
	struct rise r;
	(void)state;
	assert_true(rise_find(x, position, 12, 0.015, &r));
	assert_int_equal(r.from, 5);
	assert_int_equal(r.to, 8);
}

struct timed {
	int64_t position;
	double x;
};

static void as_a_device_timed_it(void **state)
{
	/* commits 45 to 52 slow down by 0.27 % each; points are up to 0.3 % off, the newest well below the others */
	static const struct timed a[] = { { 1, 0.00161 }, { 2, 0.00030 }, { 3, -0.00144 }, { 4, 0.00001 }, { 5, -0.00153 },
		{ 13, -0.00040 }, { 19, -0.00108 }, { 27, 0.00196 }, { 34, 0.00129 }, { 44, 0.00205 }, { 45, 0.00349 },
		{ 46, 0.00842 }, { 47, 0.01285 }, { 48, 0.01272 }, { 49, 0.01541 }, { 50, 0.01947 }, { 51, 0.02080 },
		{ 52, 0.02373 }, { 53, 0.02199 }, { 54, 0.02363 }, { 55, 0.02321 }, { 56, 0.02345 }, { 57, 0.02580 },
		{ 58, 0.02491 }, { 59, 0.02517 }, { 60, 0.02052 } };
	double x[CHANGEPOINT_POINTS_MAX];
	int64_t position[CHANGEPOINT_POINTS_MAX];
	int n = (int)(sizeof a / sizeof *a);
	struct rise r;
	(void)state;
	for (int i = 0; i < n; i++) {
		x[i] = a[i].x;
		position[i] = a[i].position;
	}
	assert_true(rise_find(x, position, n, 0.75 * 0.0245, &r));
	assert_int_equal(position[r.from], 44);
	assert_int_equal(position[r.to], 52);
	assert_true(fabs(r.step - 0.0217) < 0.002);
}

/* 200 series with regressions in [begin, end) and, unless it is 0, in [again, again_end): in how many the range is correct to one
 * commit. */
static int right_by_one(int n, int begin, int end, int again, int again_end, double each, double spread)
{
	struct noise noise = { .state = 11 };
	int right = 0;
	for (int trial = 0; trial < 200; trial++) {
		double x[CHANGEPOINT_POINTS_MAX];
		int64_t position[CHANGEPOINT_POINTS_MAX];
		int last = again ? again_end : end;
		struct rise r;
		for (int i = 0; i < n; i++)
			x[i] = spread * noise_normal(&noise);
		add_loss(x, n, begin, end, each);
		if (again)
			add_loss(x, n, again, again_end, each);
		positions_in_line(position, n);
		right += rise_find(x, position, n, 0.75 * each * (end - begin + again_end - again), &r) &&
			 abs(r.from - (begin - 1)) <= 1 && abs(r.to - (last - 1)) <= 1;
	}
	return right;
}

static void on_noise(void **state)
{
	(void)state;
	assert_in_range(right_by_one(36, 20, 28, 0, 0, 0.0027, 0.001), 195, 200);
	assert_in_range(right_by_one(31, 20, 28, 0, 0, 0.0027, 0.001), 190, 200); /* three points since */
	assert_in_range(right_by_one(44, 20, 40, 0, 0, 0.0011, 0.0005), 195, 200);
	assert_in_range(right_by_one(26, 20, 21, 0, 0, 0.02, 0.002), 195, 200);
	assert_in_range(right_by_one(60, 8, 12, 50, 54, 0.0027, 0.0005), 170, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(drift_that_pauses),
		cmocka_unit_test(most_of_a_rise_at_one_commit),
		cmocka_unit_test(reported_step_taken_out_badly),
		cmocka_unit_test(no_rise_where_there_is_none),
		cmocka_unit_test(unmeasured_commits),
		cmocka_unit_test(as_a_device_timed_it),
		cmocka_unit_test(on_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
