/* Sustained runs: regressions and gains that only a busy kernel has, their alert texts, and how they end. */
#include "judge_run.h"

#include <math.h>

#include "flopwatchd/job/internal.h"

/* A regression of sustained runs counts whatever the pairs show; one of an underpowered cell counts if it is clear. */
static void sustained_losses_are_regressions(void **state)
{
	struct fixture *f = *state;
	for (int underpowered = 0; underpowered < 2; underpowered++) {
		struct noise noise = { .state = 13, .white = 0.001 };
		struct result *r = fixture_result(f, "main", 1, (unsigned)(2 + underpowered), 1);
		r->plan.request.cell[0].underpowered_pct = underpowered ? 6 : 0;
		fixture_accepted(r);
		for (int run = 1; run <= 12; run++) {
			int set = run > 6 ? 2 : 1;
			fixture_run(r, run, set);
			fixture_timing(r, &noise, run, set, 0, SERIES_DEVICE, "", -0.002, 0);
			fixture_timing(r, &noise, run, set, 0, SERIES_SUSTAINED, "", 0.045, 0);
		}
		struct store_cell c = cell_of(f, judged(f, r, 5000).comparison, 0);
		assert_int_equal(c.verdict, VERDICT_REGRESSION);
		assert_true(c.flags & FLAG_SUSTAINED);
		assert_true(!(c.flags & FLAG_UNDERPOWERED) == (underpowered == 0));
	}
}

/* Six runs and, as a worker does for a possible regression, six more: pairs and sustained runs of one cell. Units: log ratios. */
static struct judge_outcome compare_sustained_runs(struct fixture *f, const char *branch, unsigned base, unsigned target,
	double pairs, double sustained_runs, int64_t now_ms)
{
	struct noise noise = { .state = 17, .white = 0.001 };
	struct result *r = fixture_result(f, branch, base, target, 1);
	fixture_accepted(r);
	for (int run = 1; run <= 12; run++) {
		int set = run > 6 ? 2 : 1;
		fixture_run(r, run, set);
		fixture_timing(r, &noise, run, set, 0, SERIES_DEVICE, "", pairs, 0);
		fixture_timing(r, &noise, run, set, 0, SERIES_SUSTAINED, "", sustained_runs, 0);
	}
	return judged(f, r, now_ms);
}

static void take_change(void *arg, const struct store_bisect_point *p)
{
	*(double *)arg = p->m;
}

static void sustained_losses_report_the_deciding_metric(void **state)
{
	struct fixture *f = *state;
	double m = 0;
	struct judge_outcome out = compare_sustained_runs(f, "main", 1, 2, 0.002, 0.08, 5000);
	struct store_cell c = cell_of(f, out.comparison, 0);
	assert_true(c.decider == DECIDER_SUSTAINED_RUNS && fabs(c.change_pct) < 0.5 &&
		    fabs(c.decided_pct - stats_change_pct(0.08)) < 0.5);
	assert_true(fabs(c.decided_m - 0.08) < 0.005 && c.decided_se > 0);
	assert_int_equal(fixture_number(f, "SELECT worst_pct < -7 AND title LIKE '%(sustained) -7.%' AND "
					   "cells ->> '$[0].change_pct' < -7 AND cells ->> '$[0].sustained' AND "
					   "grouped ->> '$[0].sustained' FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT worst_pct < -7 FROM comparison"), 1);
	struct cell_metrics metrics;
	ok(cell_metrics_read(f->db, c.id, &metrics, &err));
	assert_true(metrics.sustained.runs == 12);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM change_point"), 0); /* the history contains pairs */
	ok(store_bisect_cells(f->db, out.comparison, take_change, &m, &err));
	assert_true(fabs(m - 0.08) < 0.005);
	/* a regression of the pairs is attributed to them, whatever sustained runs show */
	c = cell_of(f, compare_sustained_runs(f, "topic", 1, 3, 0.04, 0.08, 6000).comparison, 0);
	assert_true(c.verdict == VERDICT_REGRESSION && c.decider == DECIDER_PAIRS && c.decided_m == c.m && c.decided_se == c.se);
	assert_true(c.decided_pct == c.change_pct);
	c = cell_of(f, compare_sustained_runs(f, "topic", 1, 4, 0, 0.004, 7000).comparison, 0);
	assert_true(c.verdict == VERDICT_UNCHANGED && c.decider == DECIDER_PAIRS && c.decided_m == c.m);
}

static void sustained_losses_end_with_sustained_gains(void **state)
{
	struct fixture *f = *state;
	compare_sustained_runs(f, "main", 1, 2, 0, 0.08, 5000);
	assert_int_equal(compare_sustained_runs(f, "main", 2, 3, 0, 0, 6000).n_recovered, 0);
	assert_int_equal(compare_sustained_runs(f, "main", 3, 4, 0, -0.03, 7000).n_recovered, 0);
	assert_int_equal(compare(f, "main", 4, 5, 0, 8000).n_recovered, 0); /* its sentinel runs found nothing */
	assert_int_equal(compare_sustained_runs(f, "main", 5, 6, 0, -0.05, 9000).n_recovered, 1);
	/* and against a base from before it, unchanged is sufficient */
	compare_sustained_runs(f, "topic", 1, 7, 0, 0.08, 10000);
	assert_int_equal(compare(f, "topic", 1, 8, 0, 11000).n_recovered, 1);
}

/* Only sustained runs got faster: an improvement, reported by its best cell and deciding series; the history has no step. */
static void a_sustained_gain_is_an_improvement(void **state)
{
	struct fixture *f = *state;
	static const double sustained_runs[] = { -0.06, -0.09, 0 };
	struct noise noise = { .state = 17, .white = 0.001 };
	struct result *r = fixture_result(f, "main", 1, 2, 3);
	fixture_accepted(r);
	for (int run = 1; run <= 4; run++) {
		fixture_run(r, run, 1);
		for (int i = 0; i < 3; i++) {
			fixture_timing(r, &noise, run, 1, i, SERIES_DEVICE, "", 0.0005 * i, 0);
			fixture_timing(r, &noise, run, 1, i, SERIES_SUSTAINED, "", sustained_runs[i], 0);
		}
	}
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_IMPROVEMENT);
	struct store_cell c = cell_of(f, out.comparison, 1);
	assert_true(c.verdict == VERDICT_IMPROVEMENT && c.decider == DECIDER_SUSTAINED_RUNS && (c.flags & FLAG_SUSTAINED));
	assert_true(fabs(c.change_pct) < 0.5 && fabs(c.decided_pct - stats_change_pct(-0.09)) < 0.5);
	assert_int_equal(cell_of(f, out.comparison, 2).verdict, VERDICT_UNCHANGED);
	assert_int_equal(out.alert, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM change_point"), 0);
	assert_int_equal(
		fixture_number(f, "SELECT json_array_length(payload ->> 'groups') = 1 AND payload ->> '$.groups[0].cells' = 2 "
				  "AND payload ->> '$.groups[0].best_pct' BETWEEN 9 AND 10 AND payload ->> "
				  "'$.groups[0].sustained' FROM event WHERE kind = 'improvement.found'"),
		1);
}

static void an_accepted_sustained_loss_is_the_new_level(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare_sustained_runs(f, "topic", 1, 2, 0, 0.08, 5000);
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "numerics need it", 5500, &err));
	judge_range(f, 1, 3, 2);
	judge_range(f, 1, 4, 2);
	assert_int_equal(compare_sustained_runs(f, "topic", 1, 3, 0, 0.085, 6000).alert, 0);
	assert_true(compare_sustained_runs(f, "topic", 1, 4, 0, 0.2, 7000).alert_is_new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sustained_losses_are_regressions, setup, teardown),
		cmocka_unit_test_setup_teardown(sustained_losses_report_the_deciding_metric, setup, teardown),
		cmocka_unit_test_setup_teardown(sustained_losses_end_with_sustained_gains, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sustained_gain_is_an_improvement, setup, teardown),
		cmocka_unit_test_setup_teardown(an_accepted_sustained_loss_is_the_new_level, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
