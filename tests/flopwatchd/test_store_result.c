/* Results as rows: builds found again, samples bit for bit, runs for judging again, thinning. */
#include "db/db.h"

#include <math.h>

#include "fixture_result.h"
#include "fixture_transaction.h"

static int64_t put_build(struct fixture *f, const char *how, const char *module, const char *toolchain)
{
	struct msg_build b = { .duration_ms = 1200 };
	int64_t id;
	snprintf(b.state, sizeof b.state, "%s", how);
	snprintf(b.module_sha256, sizeof b.module_sha256, "%s", module);
	snprintf(b.toolchain, sizeof b.toolchain, "%s", toolchain);
	ok(store_build_put(f->db, "inputs", DEVICE_CPU, &b, 9, &id, &err));
	return id;
}

static void cached_builds_are_found_again(void **state)
{
	struct fixture *f = *state;
	int64_t first = put_build(f, "ok", "aa", "gcc 12");
	assert_int_equal(put_build(f, "cached", "aa", "gcc 12"), first);
	assert_true(put_build(f, "cached", "aa", "gcc 13") != first);
	assert_true(put_build(f, "cached", "bb", "gcc 12") != first);
	int64_t second = put_build(f, "ok", "aa", "gcc 12"); /* built again: a separate row */
	assert_true(second != first);
	assert_int_equal(put_build(f, "cached", "aa", "gcc 12"), second);
	put_build(f, "failed", "", "gcc 12");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM build WHERE state = 'failed' AND length(log) = 0"), 1);
}

static void comparisons_read_back(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_IMPROVEMENT, 77);
	struct store_comparison c;
	struct buf rule;
	buf_init(&rule, 1 << 16);
	buf_puts(&rule, "in front: ");
	ok(store_comparison_get(f->db, id, &c, &rule, &err));
	assert_string_equal(c.rule_json, "{}");
	assert_string_equal(c.branch, "main");
	assert_string_equal(c.target_sha, fixture_sha(2));
	assert_int_equal(c.verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(c.environment, f->environment);
	assert_int_equal(c.base_build, 0);
	assert_int_equal(c.finished_at, 77);
	refused(ERR_NOT_FOUND, store_comparison_get(f->db, 99, &c, &rule, &err));
	c.id = 0;
	c.rule_json = "{}";
	refused(ERR_INTERNAL, store_comparison_insert(f->db, &c, &err)); /* its job has one already */
	buf_fini(&rule);
}

static void cells_read_back(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 77);
	struct store_cell c;
	fixture_cell(f, id, 4, "b/backward", 0.01, VERDICT_UNCHANGED);
	fixture_cell(f, id, 2, "a/forward", -0.02, VERDICT_IMPROVEMENT);
	assert_int_equal(store_cell_next(f->db, id, -1, &c, &err), 1);
	assert_string_equal(c.key, "a/forward");
	assert_true(c.m == -0.02 && c.beta == 0);
	assert_int_equal(c.verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(store_cell_next(f->db, id, c.n, &c, &err), 1);
	assert_string_equal(c.key, "b/backward");
	c.verdict = VERDICT_REGRESSION;
	c.flags = FLAG_BORDERLINE;
	c.beta = -0.9;
	snprintf(c.reason, sizeof c.reason, "said a test");
	ok(store_cell_verdict(f->db, &c, &err));
	struct store_cell again;
	assert_int_equal(store_cell_next(f->db, id, 3, &again, &err), 1);
	assert_int_equal(again.verdict, VERDICT_REGRESSION);
	assert_true(again.flags == FLAG_BORDERLINE && again.beta == -0.9);
	assert_string_equal(again.reason, "said a test");
	assert_int_equal(store_cell_next(f->db, id, again.n, &c, &err), 0);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	assert_int_equal(
		fixture_number(f, "SELECT n_cells = 2 AND n_regressions = 1 AND worst_key = 'b/backward' FROM comparison"), 1);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM cell WHERE device = 1 AND branch = 'main' AND finished_at = 77"), 2);
	again.comparison = 99;
	refused(ERR_NOT_FOUND, store_cell_insert(f->db, &again, &err));
}

/* A cell that is not decided may show a larger loss, as may one that failed; neither is the loss of the regression. */
static void the_worst_cell_is_a_regression(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_UNDECIDED, 77);
	fixture_cell(f, id, 0, "open", 0.2, VERDICT_UNDECIDED);
	fixture_cell(f, id, 1, "same", 0.001, VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, id, VERDICT_UNDECIDED, &err));
	assert_int_equal(fixture_number(f, "SELECT worst_key = 'open' AND worst_pct < -15 FROM comparison"), 1);
	fixture_cell(f, id, 2, "slow", 0.03, VERDICT_REGRESSION);
	fixture_cell(f, id, 3, "slower", 0.04, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	assert_int_equal(fixture_number(f, "SELECT worst_key = 'slower' AND worst_pct BETWEEN -4 AND -3.8 FROM comparison"), 1);
}

static void see_point(void *arg, const struct view_point *row)
{
	struct view_point *seen = arg;
	*seen = *row;
	seen->commit = seen->device = NULL;
}

static struct view_point newest_point(struct fixture *f)
{
	struct view_point seen = { 0 };
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = "main", .cell = "a/forward" }, 1, see_point,
		&seen, &err));
	return seen;
}

static void a_history_shows_what_judging_again_found_in_its_old_position(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = { .repo = f->repo, .environment = f->environment, .started_at = 1, .held_mhz = 1500 };
	snprintf(e.suite, sizeof e.suite, "ffa");
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 77);
	struct store_cell c = { .comparison = id,
		.key = "a/forward",
		.flops = 3e9,
		.threshold_pct = 1.5,
		.base_median_ms = 1.25,
		.target_median_ms = 1.5,
		.change_pct = -0.5,
		.ci_low_pct = NAN,
		.ci_high_pct = INFINITY,
		.verdict = VERDICT_UNCHANGED,
		.baseline_period = e.id,
		.held_ms = 2,
		.reference_change_pct = -7.25,
		.reference_ci_low_pct = -8,
		.reference_ci_high_pct = -6.5 };
	ok(store_cell_insert(f->db, &c, &err));
	struct view_point seen = newest_point(f);
	assert_true(seen.comparison == id && seen.finished_at == 77 && seen.baseline_period == e.id && !seen.borderline);
	assert_true(seen.base_median_ms == 1.25 && seen.median_ms == 1.5 && seen.change_pct == -0.5);
	assert_true(seen.tflops == 3e9 / 1.5 * 1e-9 && seen.held_tflops == 3e9 / 2 * 1e-9);
	assert_true(isnan(seen.ci_low_pct) && !isfinite(seen.ci_high_pct));
	assert_true(seen.reference_change_pct == -7.25 && seen.reference_ci_low_pct == -8 && seen.reference_ci_high_pct == -6.5);

	struct store_cell again;
	assert_int_equal(store_cell_next(f->db, id, -1, &again, &err), 1);
	again.verdict = VERDICT_REGRESSION;
	again.flags = FLAG_BORDERLINE;
	again.base_median_ms = 1.375;
	again.change_pct = -9;
	again.ci_low_pct = -10;
	again.ci_high_pct = -8.5;
	ok(store_cell_verdict(f->db, &again, &err));
	seen = newest_point(f);
	assert_true(seen.verdict == VERDICT_REGRESSION && seen.borderline && seen.base_median_ms == 1.375);
	assert_true(seen.change_pct == -9 && seen.ci_low_pct == -10 && seen.ci_high_pct == -8.5);
	assert_true(seen.baseline_period == e.id && seen.held_tflops == 3e9 / 2 * 1e-9 && seen.reference_change_pct == -7.25);
}

/** Three runs of one cell, the third without clocks when `clocks` is false. */
static int64_t put_timings(struct fixture *f, struct result *r, bool clocks)
{
	struct noise noise = { .state = 3, .white = 0.003, .clock = clocks ? 0.004 : 0 };
	int64_t comparison = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 77), run;
	int64_t cell = fixture_cell(f, comparison, 0, "a/forward", 0, VERDICT_UNCHANGED);
	for (int i = 1; i <= 3; i++) {
		fixture_run(r, i, i == 3 ? 2 : 1);
		fixture_timing(r, &noise, i, i == 3 ? 2 : 1, 0, SERIES_DEVICE, "", 0.01, i == 2 ? 0x44 : 0);
		ok(store_run_insert(f->db, comparison, i, i == 3 ? 2 : 1, 18446744073709551615u, &run, &err));
		struct run_estimate e = { .set = 1, .n = 16, .d = 0.01 * i, .q = 1e-7, .d_raw = 0.02 * i };
		ok(store_samples_insert(f->db, run, cell, r->cell[i - 1], &e, &err));
	}
	return cell;
}

static void samples_come_back_bit_for_bit(void **state)
{
	struct fixture *f = *state;
	for (int clocks = 0; clocks < 2; clocks++) {
		struct result *r = fixture_result(f, "main", 1, 2, 1);
		int64_t cell = put_timings(f, r, clocks);
		struct store_runs l;
		ok(store_cell_runs(f->db, cell, SERIES_DEVICE, &l, &err));
		assert_int_equal(l.n, 3);
		assert_true(l.raw);
		for (int i = 0; i < 3; i++) {
			const struct msg_cell *m = r->cell[i];
			assert_int_equal(l.pairs[i].n, 16);
			assert_int_equal(l.pairs[i].set, i == 2 ? 2 : 1);
			assert_memory_equal(l.pairs[i].base_ms, m->ms[0], 16 * sizeof(float));
			assert_memory_equal(l.pairs[i].target_ms, m->ms[1], 16 * sizeof(float));
			if (clocks)
				assert_memory_equal(l.pairs[i].target_mhz, m->mhz[1], 16 * sizeof(float));
			else
				assert_null(l.pairs[i].base_mhz);
			assert_true(l.estimate[i].d == 0.01 * (i + 1) && l.estimate[i].d_raw == 0.02 * (i + 1));
			assert_int_equal((int)l.device_check[i].reasons, i == 1 ? 0x44 : 0);
		}
		buf_fini(&l.values);
		result_free(r);
	}
}

static void deleting_samples_preserves_the_estimates(void **state)
{
	struct fixture *f = *state;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	int64_t cell = put_timings(f, r, true);
	struct store_runs l;
	fixture_forget_times(f, 78);
	ok(store_cell_runs(f->db, cell, SERIES_DEVICE, &l, &err));
	assert_int_equal(l.n, 3);
	assert_false(l.raw);
	assert_null(l.pairs[1].base_ms);
	assert_true(l.estimate[2].d == 0.03 && l.estimate[2].q == 1e-7);
	buf_fini(&l.values);
	struct run_estimate changed = { .d = 0.5, .q = 0.25, .d_raw = 0.125 };
	ok(store_sample_estimate(f->db, cell, l.run[0], SERIES_DEVICE, &changed, &err));
	ok(store_cell_runs(f->db, cell, SERIES_DEVICE, &l, &err));
	assert_true(l.estimate[0].d == 0.5 && l.estimate[0].q == 0.25 && l.estimate[0].d_raw == 0.125);
	buf_fini(&l.values);
	ok(stmt_run(db_stmt(f->db, "UPDATE sample SET d = NULL", &err), &err));
	refused(ERR_INVALID, store_cell_runs(f->db, cell, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cached_builds_are_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(comparisons_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(the_worst_cell_is_a_regression, setup, teardown),
		cmocka_unit_test_setup_teardown(a_history_shows_what_judging_again_found_in_its_old_position, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_come_back_bit_for_bit, setup, teardown),
		cmocka_unit_test_setup_teardown(deleting_samples_preserves_the_estimates, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
