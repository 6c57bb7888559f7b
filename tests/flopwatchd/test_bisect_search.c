/* The search for culprits on made-up histories: the named commits, the number of measurements, and the commits not named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flopwatchd/bisect/bisect.h"
#include "noise.h"
#include "stats/stats.h"

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
		(void)bisect_timed_point(&s->track[k].point[h->n], VERDICT_REGRESSION, h->m[k][h->n], 0.001);
		bisect_direct_put(&s->track[k], 0, h->n, VERDICT_REGRESSION, h->m[k][h->n], 0.001, 99);
	}
}

static void measure(struct bisect_search *s, const struct history *h, int base, int target)
{
	for (int k = 0; k < s->n_tracks; k++) {
		struct bisect_track *t = &s->track[k];
		if (!bisect_wants(t, s->n, base, target))
			continue;
		double m = h->m[k][target] - h->m[k][base];
		enum verdict v = isfinite(m) ? VERDICT_UNDECIDED : VERDICT_FAILED;
		bisect_direct_put(t, base, target, v, m, 0.001, 100 + target);
		if (base == 0)
			(void)bisect_timed_point(&t->point[target], v, m, 0.001);
		bisect_job_ended(t, base, target);
	}
}

/**
 * Run the search; its result in `found` as "from-to from-to", '?' after unconfirmed ranges. Returns the number of measurements.
 */
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
		assert_true(steps <= 5); /* log2 of 16, and the confirmation */
	}
}

static void a_small_culprit_is_found(void **state)
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

static void culprits_of_separate_cells(void **state)
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
	assert_int_equal(play(&h, 1, found, sizeof found), N); /* all others tried once, and both ends */
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
	lose(&h, 0, 2, 0.04); /* and a separate culprit */
	play(&h, 1, found, sizeof found);
	assert_non_null(strstr(found, "1-2"));
	assert_non_null(strstr(found, "?"));
}

/** The state of a point after measurements with these means and errors. */
static struct bisect_point point_of(int n, const double m[], const double se[])
{
	struct bisect_point p = { BISECT_UNKNOWN };
	for (int i = 0; i < n; i++)
		assert_true(bisect_timed_point(&p, VERDICT_UNDECIDED, m[i], se[i]));
	return p;
}

static void every_measurement_with_an_error_counts(void **state)
{
	(void)state;
	struct bisect_point p = { BISECT_UNKNOWN };
	assert_false(bisect_timed_point(&p, VERDICT_REJECTED, 0.015, 0.001)); /* its times are not used */
	assert_false(bisect_timed_point(&p, VERDICT_FAILED, 0.015, 0.001));
	assert_false(bisect_timed_point(&p, VERDICT_NOT_COMPARABLE, NAN, NAN));
	assert_false(bisect_timed_point(&p, VERDICT_UNDECIDED, 0.01, INFINITY));
	assert_int_equal(p.state, BISECT_UNKNOWN);
	assert_true(bisect_timed_point(&p, VERDICT_UNDECIDED, 0.015, 0.02)); /* however wide its interval */
	assert_int_equal(p.state, BISECT_KNOWN);
	/* the wider one weighs 1 / 16 */
	p = point_of(2, (double[]){ 0.010, 0.0117 }, (double[]){ 0.001, 0.004 });
	assert_true(fabs(p.m - 0.0101) < 1e-9);
	assert_true(fabs(p.e.se - 0.001 / sqrt(17.0 / 16)) < 1e-9);
	/* two that contradict each other have a wider error than one */
	p = point_of(2, (double[]){ 0.010, 0.040 }, (double[]){ 0.001, 0.001 });
	assert_true(p.e.se > 0.01);
	p = (struct bisect_point){ BISECT_UNKNOWN };
	assert_true(bisect_timed_point(&p, VERDICT_IDENTICAL, NAN, NAN));
	assert_true(p.m == 0);
}

/** A search with one step of `loss` at `at`; measurements have the error `se`, and a share of `wild` is off by up to 6 %. */
static struct outcome {
	int jobs, wrong, named;
	double probability;
} search(struct noise *dice, int n, int at, double loss, double se, double wild)
{
	struct bisect_search *s = calloc(1, sizeof *s);
	struct bisect_finding out[BISECT_FINDINGS_MAX];
	struct outcome o = { .jobs = 0 };
	struct bisect_track *t = s->track;
	int base, target;
	assert_non_null(s);
	s->n = n;
	s->n_tracks = 1;
	t->threshold = stats_theta(1.5);
	t->point[0].state = BISECT_KNOWN;
	for (base = 0, target = n; o.jobs < 64; o.jobs++) {
		double own = se * (0.7 + 0.6 * noise_uniform(dice));
		double m = (base < at && target >= at ? loss : 0) + own * noise_normal(dice);
		m += noise_uniform(dice) < wild ? 0.12 * (noise_uniform(dice) - 0.5) : 0;
		bisect_direct_put(t, base, target, VERDICT_UNDECIDED, m, own, 100);
		if (base == 0)
			(void)bisect_timed_point(&t->point[target], VERDICT_UNDECIDED, m, own);
		bisect_job_ended(t, base, target);
		if (!bisect_next(s, &base, &target))
			break;
	}
	int found = bisect_findings(s, out);
	for (int i = 0; i < found; i++)
		if (out[i].to - out[i].from == 1 || out[i].confirmed) {
			bool right = out[i].from < at && out[i].to >= at;
			assert_true(!out[i].confirmed || out[i].probability > BISECT_NAMED);
			o.named += right;
			o.wrong += !right;
		}
	free(s);
	return o;
}

static void no_innocent_commit_is_named(void **state)
{
	static const struct {
		double loss, se, wild;
		int named_of_400, jobs_at_most;
	} row[] = { { 0.030, 0.001, 0, 400, 6 }, { 0.030, 0.003, 0, 398, 7 }, { 0.020, 0.003, 0, 394, 7 },
		{ 0.030, 0.006, 0, 385, 14 }, { 0.030, 0.001, 0.05, 350, 7 }, { 0, 0.002, 0.02, 0, 1 } };
	struct noise dice = { .state = 20261127 };
	(void)state;
	for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
		int named = 0, wrong = 0, jobs = 0;
		for (int i = 0; i < 400; i++) {
			int n = 2 + (int)(38 * noise_uniform(&dice)), at = 1 + (int)(n * noise_uniform(&dice));
			struct outcome o = search(&dice, n, at, row[k].loss, row[k].se, row[k].wild);
			named += o.named > 0;
			wrong += o.wrong;
			jobs += o.jobs;
		}
		print_message("# a loss of %g, errors of %g, %g of them wild: named %d of 400, wrong %d, %.1f jobs each\n",
			row[k].loss, row[k].se, row[k].wild, named, wrong, jobs / 400.0);
		assert_int_equal(wrong, 0);
		assert_true(named >= row[k].named_of_400);
		assert_true(jobs <= 400 * row[k].jobs_at_most);
	}
}

static void the_commit_that_first_failed_is_the_culprit(void **state)
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
		cmocka_unit_test(a_small_culprit_is_found),
		cmocka_unit_test(several_culprits),
		cmocka_unit_test(culprits_of_separate_cells),
		cmocka_unit_test(what_cannot_be_measured_widens_the_range),
		cmocka_unit_test(many_small_steps_are_a_range),
		cmocka_unit_test(every_measurement_with_an_error_counts),
		cmocka_unit_test(no_innocent_commit_is_named),
		cmocka_unit_test(the_commit_that_first_failed_is_the_culprit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
