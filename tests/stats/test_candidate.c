/* Which steps of a series are compared directly: not those of a slope, and seldom those of drifting noise. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"

enum { CELLS = 20, POINTS = 90, SMALL_FOUND_MIN = 30, WALK_MAX = 24 };

#define SD 0.001

static struct noise dice;

/** Query after each point, as the daemon does, where no direct comparison confirms anything. Returns the number of candidates. */
static int count_unconfirmed(const double *x, int n)
{
	struct candidate_past past = { .n = 0 };
	struct changepoint found;
	int candidates = 0;
	for (int i = 1; i <= n; i++)
		if (candidate_find(x, i, i, &past, &found)) {
			candidates++;
			past = (struct candidate_past){ past.n + 1, i, fmax(past.step, fabs(found.step)) };
		}
	return candidates;
}

static void drift_has_no_candidate(void **state)
{
	static const double slopes[] = { 0, 0.0003, 0.001, 0.002, -0.001 };
	(void)state;
	for (size_t s = 0; s < sizeof slopes / sizeof *slopes; s++) {
		int levels = 0, candidates = 0;
		dice.state = 20261127 + s;
		for (int cell = 0; cell < CELLS; cell++) {
			double x[POINTS];
			struct changepoint found;
			for (int i = 0; i < POINTS; i++)
				x[i] = slopes[s] * i + SD * noise_normal(&dice);
			for (int i = 1; i <= POINTS; i++)
				levels += changepoint_find(x, i, &found);
			candidates += count_unconfirmed(x, POINTS);
		}
		if (slopes[s] != 0)
			assert_true(levels > 500); /* each of these had two levels */
		if (candidates)
			fail_msg("a slope of %g: %d candidates", slopes[s], candidates);
	}
}

static void drifting_noise_queues_few_jobs(void **state)
{
	int of_walk = 0, of_interleave = 0;
	(void)state;
	dice.state = 3;
	for (int cell = 0; cell < CELLS; cell++) {
		double walk[POINTS], interleave[POINTS], at = 0;
		for (int i = 0; i < POINTS; i++) {
			walk[i] = at += 0.003 * noise_normal(&dice);
			interleave[i] =
				(i / 12 % 2 ? 0.005 : 0) + SD * noise_normal(&dice); /* two machines, twelve commits each */
		}
		of_walk += count_unconfirmed(walk, POINTS);
		of_interleave += count_unconfirmed(interleave, POINTS);
	}
	if (of_walk > WALK_MAX || of_interleave > 100)
		fail_msg("%d candidates of a random walk, %d of two machines by turns", of_walk, of_interleave);
}

/** The number of points at which a step at `at` is a candidate at its correct index; 0 never. */
static int found_at(const double *x, int n, int at, const struct candidate_past *past)
{
	struct changepoint found;
	for (int i = at + 1; i <= n; i++)
		if (candidate_find(x, i, i, past, &found) && found.at == at)
			return i;
	return 0;
}

static void clean_steps_are_found_at_once(void **state)
{
	static const struct candidate_past none;
	(void)state;
	dice.state = 5;
	for (int cell = 0; cell < CELLS; cell++) {
		double x[POINTS];
		for (int i = 0; i < POINTS; i++)
			x[i] = (i >= 45 ? cell % 2 ? 0.01 : -0.01 : 0) + SD * noise_normal(&dice);
		int at = found_at(x, POINTS, 45, &none);
		if (at < 48 || at > 50)
			fail_msg("the step of cell %d was found after %d points", cell, at);
	}
}

/* A line fits nearly as well as two levels do where the step is not much larger than the noise of single points. */
static void small_steps_in_even_noise_are_found(void **state)
{
	static const struct candidate_past none;
	int found = 0;
	(void)state;
	dice.state = 7;
	for (int cell = 0; cell < 5 * CELLS; cell++) {
		double x[POINTS];
		for (int i = 0; i < POINTS; i++)
			x[i] = (i >= 45 ? 0.005 : 0) + 0.0023 * noise_normal(&dice);
		found += found_at(x, POINTS, 45, &none) > 0;
	}
	if (found < SMALL_FOUND_MIN)
		fail_msg("%d of %d small steps were found", found, 5 * CELLS);
}

/* The levels of the whole series are further apart because of the slope, and at another index. */
static void a_step_on_a_slope_is_found(void **state)
{
	static const struct candidate_past none;
	int found = 0;
	(void)state;
	dice.state = 5;
	for (int cell = 0; cell < CELLS; cell++) {
		double x[POINTS];
		for (int i = 0; i < POINTS; i++)
			x[i] = 0.0005 * i + (i >= 50 ? 0.01 : 0) + SD * noise_normal(&dice);
		found += found_at(x, POINTS, 50, &none) > 0;
	}
	if (found < 15)
		fail_msg("%d of %d steps on a slope were found", found, CELLS);
}

static void one_bad_point_is_no_candidate(void **state)
{
	double x[POINTS];
	(void)state;
	dice.state = 5;
	for (int i = 0; i < POINTS; i++)
		x[i] = (i == 45 ? 0.05 : 0) + SD * noise_normal(&dice);
	assert_int_equal(count_unconfirmed(x, POINTS), 0);
}

static void a_pause_doubles_and_a_larger_step_ends_it(void **state)
{
	double x[40];
	struct changepoint found;
	(void)state;
	for (int i = 0; i < 40; i++)
		x[i] = (i % 2 ? SD : -SD) + (i >= 30 ? 0.01 : 0);
	for (int n = 1, pause = 3; n < 9; n++, pause = pause < 60 ? 2 * pause : 60) {
		struct candidate_past past = { .n = n, .points = 100, .step = 0.01 };
		if (pause > 60)
			pause = 60;
		assert_false(candidate_find(x, 40, 99 + pause, &past, &found));
		assert_true(candidate_find(x, 40, 100 + pause, &past, &found));
		assert_int_equal(found.at, 30);
		past.step = 0.006; /* less than two thirds of this one: it is another */
		assert_true(candidate_find(x, 40, 101, &past, &found));
	}
}

static void pairs_are_those_where_the_step_may_be(void **state)
{
	double x[40];
	int first;
	(void)state;
	for (int i = 0; i < 40; i++)
		x[i] = (i % 2 ? SD : -SD) + (i >= 30 ? 0.01 : 0);
	assert_true(candidate_pair(x, 40, 30, 0, &first));
	assert_int_equal(first, 29);
	assert_false(candidate_pair(x, 40, 30, 1, &first)); /* a split next to it fits far worse */
	assert_false(candidate_pair(x, 40, 30, 2, &first));
	x[29] = 0.0052; /* between the levels: it may be the first of the new one */
	assert_true(candidate_pair(x, 40, 30, 1, &first));
	assert_int_equal(first, 28);
	assert_false(candidate_pair(x, 32, 30, 0, &first)); /* two points of a new level are too few */
	assert_false(candidate_pair(x, 40, -1, 0, &first)); /* a commit that is no longer a point */
}

/* A straight rise over several commits is no step of one of them. */
static void a_rise_over_commits_is_no_step(void **state)
{
	static const struct candidate_past none;
	struct changepoint found;
	double x[60];
	(void)state;
	for (int commits = 1; commits <= 12; commits += commits == 1 ? 7 : 2) { /* that of one commit is */
		for (int i = 0; i < 60; i++)
			x[i] = (i % 2 ? SD : -SD) + 0.016 * (i < 30 ? 0 : i >= 30 + commits - 1 ? 1 : (i - 29) / (double)commits);
		assert_true(candidate_find(x, 60, 60, &none, &found) == (commits == 1));
	}
}

/* Only the newest points count, and indices are those of the caller. */
static void older_points_do_not_count(void **state)
{
	static const struct candidate_past none;
	double x[POINTS];
	struct changepoint newest, all;
	int first_newest, first_all;
	const int skipped = POINTS - CHANGEPOINT_POINTS_MAX;
	(void)state;
	for (int i = 0; i < POINTS; i++)
		x[i] = (i % 2 ? SD : -SD) + (i >= 70 ? 0.01 : 0) + (i < skipped ? 1 : 0);
	assert_true(candidate_find(x + skipped, POINTS - skipped, 60, &none, &newest));
	assert_true(candidate_find(x, POINTS, 90, &none, &all));
	assert_int_equal(all.at, 70);
	assert_int_equal(newest.at, 70 - skipped);
	assert_true(all.step == newest.step);
	for (int tried = 0; tried < CHANGEPOINT_PAIRS; tried++) {
		bool is_one = candidate_pair(x + skipped, POINTS - skipped, 70 - skipped, tried, &first_newest);
		assert_true(candidate_pair(x, POINTS, 70, tried, &first_all) == is_one);
		assert_int_equal(first_all, first_newest + skipped);
	}
	assert_false(candidate_pair(x, POINTS, skipped, 0, &first_all)); /* the first that counts has no neighbour before it */
	/* a step on a slope is found in the newest points, of any number of points */
	for (int i = 0; i < POINTS; i++)
		x[i] = 0.0005 * i + (i % 2 ? SD : -SD) / 4 + (i >= 82 ? 0.01 : 0);
	assert_true(candidate_find(x, POINTS, POINTS, &none, &all));
	assert_int_equal(all.at, 82);
	assert_true(fabs(all.step - 0.0135) < 0.002); /* with half of the slope of both sides */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drift_has_no_candidate),
		cmocka_unit_test(drifting_noise_queues_few_jobs),
		cmocka_unit_test(clean_steps_are_found_at_once),
		cmocka_unit_test(small_steps_in_even_noise_are_found),
		cmocka_unit_test(a_step_on_a_slope_is_found),
		cmocka_unit_test(one_bad_point_is_no_candidate),
		cmocka_unit_test(a_pause_doubles_and_a_larger_step_ends_it),
		cmocka_unit_test(pairs_are_those_where_the_step_may_be),
		cmocka_unit_test(a_rise_over_commits_is_no_step),
		cmocka_unit_test(older_points_do_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
