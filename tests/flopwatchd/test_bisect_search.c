/* The search for culprits, played against made-up histories: who is named, with how many measurements, and who is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flopwatchd/bisect/search.h"
#include "core/stats/stats.h"

enum { N = 16 };

/** A history: the true log time ratio of every commit to the first, NAN where it cannot be measured. */
struct history {
	int n;
	double m[2][N + 1];
};

static struct history flat(void)
{
	struct history h = { .n = N };
	return h;
}

/** From commit `at` on, cell `k` is slower by `loss`. */
static void lose(struct history *h, int k, int at, double loss)
{
	for (int i = at; i <= h->n; i++)
		h->m[k][i] += loss;
}

static void make_tracks(struct bisect_search *s, const struct history *h, int n_tracks)
{
	memset(s, 0, sizeof *s);
	s->n = h->n;
	s->n_tracks = n_tracks;
	for (int k = 0; k < n_tracks; k++) {
		s->track[k].threshold = stats_theta(1.5);
		s->track[k].point[0].state = BISECT_KNOWN;
		s->track[k].point[h->n] = (struct bisect_point){ BISECT_KNOWN, h->m[k][h->n] };
	}
}

static void measure(struct bisect_search *s, const struct history *h, int base, int target)
{
	for (int k = 0; k < s->n_tracks; k++) {
		struct bisect_track *t = &s->track[k];
		if (!bisect_wants(t, s->n, base, target))
			continue;
		double m = h->m[k][target] - h->m[k][base];
		struct bisect_direct d = { base, target, m >= t->threshold, stats_change_pct(m), 100 + target };
		if (isfinite(m))
			bisect_direct_put(t, &d);
		if (base == 0)
			t->point[target] =
				bisect_timed_point(isfinite(m) ? VERDICT_UNDECIDED : VERDICT_FAILED, m, 0.001, t->threshold);
	}
}

/** Play to the end; what was found as "from-to from-to", '?' behind what is not confirmed. Returns the measurements taken. */
static int play(const struct history *h, int n_tracks, char *found, size_t size)
{
	struct bisect_search *s = malloc(sizeof *s);
	struct bisect_finding out[BISECT_FINDINGS_MAX];
	int base, target, steps = 0;
	assert_non_null(s);
	make_tracks(s, h, n_tracks);
	while (bisect_next(s, &base, &target)) {
		assert_true(base >= 0 && base < target && target <= h->n);
		measure(s, h, base, target);
		assert_true(++steps < 100);
	}
	int n = bisect_findings(s, out);
	found[0] = 0;
	for (int i = 0; i < n; i++) {
		size_t at = strlen(found);
		snprintf(found + at, size - at, "%s%d-%d%s", i ? " " : "", out[i].from, out[i].to, out[i].confirmed ? "" : "?");
	}
	free(s);
	return steps;
}

static void one_culprit_anywhere(void **state)
{
	(void)state;
	for (int at = 1; at <= N; at++) {
		struct history h = flat();
		char found[256], wanted[32];
		lose(&h, 0, at, 0.03);
		int steps = play(&h, 1, found, sizeof found);
		snprintf(wanted, sizeof wanted, "%d-%d", at - 1, at);
		assert_string_equal(found, wanted);
		assert_true(steps <= 5); /* log2 of 16, and the proof */
	}
}

static void a_small_one_is_found_too(void **state)
{
	(void)state;
	struct history h = flat();
	char found[256];
	lose(&h, 0, 11, 0.0155);
	play(&h, 1, found, sizeof found);
	assert_string_equal(found, "10-11");
}

static void several_culprits(void **state)
{
	(void)state;
	struct history h = flat();
	char found[256];
	lose(&h, 0, 3, 0.03);
	lose(&h, 0, 9, 0.05);
	lose(&h, 0, 10, 0.04);
	assert_true(play(&h, 1, found, sizeof found) <= 13);
	assert_string_equal(found, "2-3 8-9 9-10");
}

static void cells_of_their_own(void **state)
{
	(void)state;
	struct history h = flat();
	char found[256];
	lose(&h, 0, 4, 0.03);
	lose(&h, 1, 13, 0.03);
	play(&h, 2, found, sizeof found);
	assert_string_equal(found, "3-4 12-13");
}

static void what_cannot_be_measured_widens_the_range(void **state)
{
	(void)state;
	struct history h = flat();
	char found[256];
	lose(&h, 0, 8, 0.03);
	h.m[0][7] = h.m[0][8] = h.m[0][9] = NAN;
	play(&h, 1, found, sizeof found);
	assert_string_equal(found, "6-10");
	for (int i = 1; i < N; i++)
		h.m[0][i] = NAN;
	assert_int_equal(play(&h, 1, found, sizeof found), N); /* all others tried once, and the two ends */
	assert_string_equal(found, "0-16");
}

static void many_small_steps_are_a_range(void **state)
{
	(void)state;
	struct history h = flat();
	char found[256];
	for (int at = 5; at <= 12; at++)
		lose(&h, 0, at, 0.003);
	assert_true(play(&h, 1, found, sizeof found) < 16);
	assert_string_equal(found, "4-12?");
	lose(&h, 0, 2, 0.04); /* and a culprit beside them */
	play(&h, 1, found, sizeof found);
	assert_non_null(strstr(found, "1-2"));
	assert_non_null(strstr(found, "?"));
}

static void wide_intervals_do_not_place_a_commit(void **state)
{
	(void)state;
	double threshold = stats_theta(1.5);
	assert_int_equal(bisect_timed_point(VERDICT_UNDECIDED, 0.015, 0.002, threshold).state, BISECT_KNOWN);
	assert_int_equal(bisect_timed_point(VERDICT_UNDECIDED, 0.015, 0.004, threshold).state, BISECT_SKIPPED);
	assert_int_equal(
		bisect_timed_point(VERDICT_REGRESSION, 0.08, 0.004, threshold).state, BISECT_KNOWN); /* large beside it */
	assert_int_equal(bisect_timed_point(VERDICT_REGRESSION, 0.08, 0.04, threshold).state, BISECT_SKIPPED);
	assert_int_equal(bisect_timed_point(VERDICT_REJECTED, 0.015, 0.001, threshold).state, BISECT_SKIPPED);
	assert_int_equal(bisect_timed_point(VERDICT_NOT_COMPARABLE, NAN, NAN, threshold).state, BISECT_SKIPPED);
	assert_true(bisect_timed_point(VERDICT_IDENTICAL, NAN, NAN, threshold).m == 0);
}

static void who_broke_it(void **state)
{
	(void)state;
	struct bisect_search *s = calloc(1, sizeof *s);
	struct bisect_finding out[BISECT_FINDINGS_MAX];
	int base, target, steps = 0;
	assert_non_null(s);
	s->n = N;
	s->certain = true;
	s->n_tracks = 1;
	s->track[0].threshold = 1;
	s->track[0].point[0] = bisect_failed_point(VERDICT_UNCHANGED);
	s->track[0].point[N] = bisect_failed_point(VERDICT_FAILED);
	while (bisect_next(s, &base, &target)) {
		assert_int_equal(base, 0);
		s->track[0].point[target] = bisect_failed_point(target == 6   ? VERDICT_NOT_COMPARABLE
								: target >= 7 ? VERDICT_FAILED
									      : VERDICT_REGRESSION);
		assert_true(++steps < N);
	}
	assert_int_equal(bisect_findings(s, out), 1);
	assert_int_equal(out[0].from, 5);
	assert_int_equal(out[0].to, 7);
	assert_true(out[0].confirmed);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_culprit_anywhere),
		cmocka_unit_test(a_small_one_is_found_too),
		cmocka_unit_test(several_culprits),
		cmocka_unit_test(cells_of_their_own),
		cmocka_unit_test(what_cannot_be_measured_widens_the_range),
		cmocka_unit_test(many_small_steps_are_a_range),
		cmocka_unit_test(wide_intervals_do_not_place_a_commit),
		cmocka_unit_test(who_broke_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
