/* A regression that only slow calls show, from verdict to end: alert, acceptance, bisects, recovery, and judging again. */
#include "db/db.h"

#include <math.h>

#include "judge_run.h"

enum { CELLS = 4 }; /* three dense ones, and a block-sparse one in a separate group */

/*
 * Every tenth call of the dense cells takes a quarter longer on one side, in 6 runs and, if `sets` is set, in 6 more; on the base
 * if `side` is 0, on neither side if it is -1. The typical call is `shift` slower.
 */
static struct judge_outcome compare_tails(
	struct fixture *f, const char *branch, unsigned base, unsigned target, int side, int sets, double shift, int64_t now_ms)
{
	struct noise noise = { .state = 31, .white = 0.002, .run = 0.0002 };
	struct result *r = fixture_result(f, branch, base, target, CELLS);
	int calls[CELLS] = { 3, 6, 9, 0 };
	fixture_accepted(r);
	for (int run = 1; run <= 6 * sets; run++) {
		fixture_run(r, run, run > 6 ? 2 : 1);
		for (int i = 0; i < CELLS; i++) {
			fixture_timing(r, &noise, run, run > 6 ? 2 : 1, i, SERIES_DEVICE, "", shift, 0);
			struct msg_cell *m = r->cell[r->n_cells - 1];
			for (int k = 0; k < m->n; k++)
				if (side >= 0 && i < 3 && ++calls[i] % 10 == 0)
					m->ms[side][k] *= 1.25f;
		}
	}
	return judged(f, r, now_ms);
}

static void take_change(void *arg, const struct store_bisect_point *p)
{
	if (strstr(p->key, "s1024"))
		*(double *)arg = p->m;
}

static void a_slower_mean_is_a_regression_with_a_sentence(void **state)
{
	struct fixture *f = *state;
	double m = 0;
	struct judge_outcome out = compare_tails(f, "main", 1, 2, 1, 2, 0, 5000);
	assert_int_equal(out.verdict, VERDICT_REGRESSION);
	for (int i = 0; i < 3; i++) {
		struct store_cell c = cell_of(f, out.comparison, i);
		assert_true(c.verdict == VERDICT_REGRESSION && (c.flags & FLAG_TAIL) && c.decider == DECIDER_MEAN &&
			    c.reason[0] == 0);
		assert_true(fabs(c.change_pct) < 0.3 && fabs(c.decided_pct + 2.4) < 0.3 && c.decided_se > 0);
		assert_true(
			c.decided_m == c.mean.m && c.mean.share[TAIL_BASE] == 0 && fabs(c.mean.share[TAIL_TARGET] - 0.1) < 0.01);
		assert_true(fabs(c.mean.longer - 0.25) < 0.02);
	}
	assert_int_equal(cell_of(f, out.comparison, 3).verdict, VERDICT_UNCHANGED);
	assert_int_equal(
		fixture_number(f,
			"SELECT title LIKE 'attention forward (slow calls) %-2._ % in 3 cells: 1 call in 10 takes 25 % longer' "
			"AND "
			"worst_pct BETWEEN -2.8 AND -2.1 AND cells ->> '$[0].slow_calls' = '1 call in 10 takes 25 % longer' AND "
			"grouped ->> '$[0].slow_calls' = '1 call in 10 takes 25 % longer' AND "
			"grouped ->> '$[0].phase' IS NULL FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT worst_pct < -2 FROM comparison"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM change_point"), 0); /* the history contains typical calls */
	ok(store_bisect_cells(f->db, out.comparison, take_change, &m, &err));
	assert_true(fabs(m - 0.0247) < 0.003);
	struct buf body;
	char etag[65];
	int64_t reported = 0;
	buf_init(&body, 8 << 20);
	ok(view_body(f->db, out.comparison, &body, etag, &err));
	struct stmt *s = db_stmt(f->db,
		"SELECT :body ->> '$.cells[0].decided_by' = 'mean' AND "
		":body ->> '$.cells[0].mean.text' = '1 call in 10 takes 25 % longer' AND :body ->> '$.cells[0].mean.change_pct' "
		"BETWEEN :body ->> '$.cells[0].mean.ci_low_pct' AND -2 AND :body ->> '$.cells[3].mean' IS NULL",
		&err);
	stmt_text(s, ":body", body.data);
	assert_int_equal(stmt_first_int(s, &reported, &err), 1);
	assert_int_equal(reported, 1);
	buf_fini(&body);
}

/* A regression of a first set is measured again; if the typical call got slower, slow calls are not reported separately. */
static void slow_calls_alone_are_not_enough(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare_tails(f, "main", 1, 2, 1, 1, 0, 5000);
	struct store_cell c = cell_of(f, out.comparison, 0);
	assert_int_equal(out.verdict, VERDICT_UNCHANGED);
	assert_int_equal(out.alert, 0);
	assert_true((c.flags & FLAG_TAIL) && c.decider == DECIDER_PAIRS && c.decided_m == c.m && c.mean.longer > 0.2);
	assert_non_null(strstr(c.reason, "not confirmed by a second set of runs"));

	c = cell_of(f, compare_tails(f, "topic", 1, 3, 1, 2, 0.03, 6000).comparison, 0);
	assert_true(
		c.verdict == VERDICT_REGRESSION && c.decider == DECIDER_PAIRS && !(c.flags & FLAG_TAIL) && c.mean.longer == 0);
}

static void a_slower_mean_ends_with_a_faster_one(void **state)
{
	struct fixture *f = *state;
	/* a branch: its next tip does not have it */
	assert_true(compare_tails(f, "topic", 1, 2, 1, 2, 0, 5000).alert_is_new);
	assert_int_equal(compare_tails(f, "topic", 1, 3, -1, 1, 0, 6000).n_recovered, 1);
	/* the upstream branch: the next base has it */
	assert_true(compare_tails(f, "main", 1, 4, 1, 2, 0, 7000).alert_is_new);
	assert_int_equal(compare_tails(f, "main", 4, 5, -1, 1, 0, 8000).n_recovered, 0);
	struct judge_outcome out = compare_tails(f, "main", 5, 6, 0, 2, 0, 9000);
	struct store_cell c = cell_of(f, out.comparison, 0);
	assert_int_equal(out.n_recovered, 1);
	assert_true(
		c.verdict == VERDICT_IMPROVEMENT && c.decider == DECIDER_MEAN && !(c.flags & FLAG_TAIL) && c.decided_m < -0.02);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'improvement.found' AND payload ->> "
					   "'$.groups[0].slow_calls' = '1 call in 10 took 25 % longer'"),
		1);
}

static void an_accepted_tail_is_the_new_level(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare_tails(f, "topic", 1, 2, 1, 2, 0, 5000);
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "a rare repack", 5500, &err));
	judge_range(f, 1, 3, 2);
	out = compare_tails(f, "topic", 1, 3, 1, 2, 0, 6000);
	assert_int_equal(out.verdict, VERDICT_REGRESSION);
	assert_int_equal(out.alert, 0);
	/* nor is it reported twice on the upstream branch, against one base */
	assert_true(compare_tails(f, "main", 1, 4, 1, 2, 0, 7000).alert_is_new);
	assert_int_equal(compare_tails(f, "main", 1, 5, 1, 2, 0, 8000).alert, 0);
}

static void judging_again_gives_equal_results(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare_tails(f, "main", 1, 2, 1, 2, 0, 5000);
	struct store_cell before = cell_of(f, out.comparison, 1);
	char etag[3][65];
	for (int i = 0; i < 3; i++) { /* from samples, from the archive, from neither */
		struct buf body;
		bool changed;
		if (i == 1)
			assert_int_equal(fixture_archive(f, 5001), 1);
		if (i == 2)
			fixture_forget_times(f, 5001);
		ok(judge_again(f->db, out.comparison, &changed, &err));
		struct store_cell c = cell_of(f, out.comparison, 1);
		assert_true(!changed && c.verdict == VERDICT_REGRESSION && c.decider == DECIDER_MEAN && (c.flags & FLAG_TAIL));
		assert_true(c.decided_m == before.decided_m && c.decided_se == before.decided_se &&
			    c.mean.longer == before.mean.longer);
		buf_init(&body, 8 << 20);
		ok(view_body(f->db, out.comparison, &body, etag[i], &err));
		buf_fini(&body);
		assert_string_equal(etag[i], etag[0]);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample WHERE ms IS NOT NULL"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slower_mean_is_a_regression_with_a_sentence, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_calls_alone_are_not_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(a_slower_mean_ends_with_a_faster_one, setup, teardown),
		cmocka_unit_test_setup_teardown(an_accepted_tail_is_the_new_level, setup, teardown),
		cmocka_unit_test_setup_teardown(judging_again_gives_equal_results, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
