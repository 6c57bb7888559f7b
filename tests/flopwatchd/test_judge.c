/* A finished job is stored as rows: verdicts from the samples, blame, alerts and their end, and judging again. */
/* Left to `make check`: takes seconds, only computes. */
#include "db/db.h"

#include <math.h>

#include "judge_run.h"

static void sizes_of_change_become_verdicts(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0, 0.04, -0.04, 0.002 };
	struct result *r = fixture_result(f, "main", 1, 2, 4);
	fixture_measured(r, shift);
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_REGRESSION);
	assert_int_equal(cell_of(f, out.comparison, 0).verdict, VERDICT_UNCHANGED);
	assert_int_equal(cell_of(f, out.comparison, 2).verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(cell_of(f, out.comparison, 3).verdict, VERDICT_UNCHANGED);
	struct store_cell slow = cell_of(f, out.comparison, 1);
	assert_int_equal(slow.verdict, VERDICT_REGRESSION);
	assert_true(fabs(slow.change_pct - stats_change_pct(0.04)) < 0.5);
	assert_true(slow.ci_low_pct < slow.change_pct && slow.change_pct < slow.ci_high_pct);
	assert_true(slow.change_pct < 0 && slow.ci_high_pct < 0);
	assert_int_equal(slow.runs, 12);
	assert_int_equal(slow.samples, 12 * 16);
	assert_true(slow.beta < 0); /* the clock explains a share of the noise */
	assert_true(fabs(log(slow.target_median_ms / slow.base_median_ms) - 0.04) < 0.01);
	assert_string_equal(slow.input_sha, "feed");
	assert_true(slow.flops > 0);
	assert_string_equal(cell_of(f, out.comparison, 3).group, "block_sparse");
	assert_string_equal(slow.title, "causal");
	assert_int_equal(slow.size, 2048);
	assert_non_null(strstr(slow.shape, "{\"mask\":\"causal\",\"seqlen\":2048,\"nhq\":4,"));
	assert_string_equal(slow.direction, "forward");
}

static void everything_is_stored(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0.04, 0 };
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	fixture_measured(r, shift);
	float first = r->cell[0]->ms[1][0], sample;
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.comparison,
		fixture_number(f, "SELECT c.id FROM comparison c JOIN job j ON j.id = c.job WHERE j.state = 'done'"));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM build WHERE state = 'ok' AND length(log) > 0"), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM run"), 12);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM run WHERE seed = -2 AND n = 1 AND set_number = 1"), 1);
	/* per cell: 12 runs of two sides, call and two phases of two sides */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample"), 2 * (24 + 10));
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM sample WHERE d IS NOT NULL AND q > 0 AND d_raw IS NOT NULL"), 26);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample s JOIN sample_kind k ON k.id = s.kind WHERE d IS NOT "
					   "NULL AND (side <> 'target' OR series "
					   "NOT IN ('device', 'call'))"),
		0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample WHERE length(ms) <> 4 * n"), 0);
	struct stmt *s = db_stmt(f->db,
		"SELECT ms FROM sample s JOIN sample_kind k ON k.id = s.kind WHERE side = 'target' AND series = 'device' "
		"ORDER BY cell, run LIMIT 1",
		&err);
	size_t len;
	assert_int_equal(stmt_step(s, &err), 1);
	memcpy(&sample, row_blob(s, 0, &len), sizeof sample);
	stmt_reset(s);
	assert_memory_equal(&sample, &first, sizeof first); /* the same bits */
	assert_int_equal(fixture_number(f, "SELECT n_cells FROM comparison"), 2);
	assert_int_equal(fixture_number(f, "SELECT n_regressions FROM comparison"), 1);
	assert_int_equal(fixture_number(f, "SELECT worst_key = (SELECT key FROM cell WHERE n = 0) FROM comparison"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric f JOIN metric_name m ON m.id = f.name WHERE m.name = "
					   "'phase.run.change_pct'"),
		2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric f JOIN metric_name m ON m.id = f.name WHERE m.name = "
					   "'call.base_us' AND f.value > 1000"),
		2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric f JOIN metric_name m ON m.id = f.name WHERE m.name = "
					   "'target.error_ratio' AND f.value = 0.31"),
		2);
	assert_int_equal(
		fixture_number(
			f, "SELECT count(*) FROM event WHERE kind IN ('job.done', 'alert.opened', 'baseline_period.started')"),
		3);
	ok(db_commit(f->db, &err));
	ok(db_check(f->db, &err));
}

static void quick_jobs_open_no_alert(void **state)
{
	struct fixture *f = *state;
	double shift = 0.05;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	r->plan.request.quick = true;
	fixture_measured(r, &shift);
	assert_int_equal(judged(f, r, 5000).verdict, VERDICT_REGRESSION);
	assert_int_equal(compare(f, "", 1, 3, 0.05, 6000).alert, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox"), 0);
}

static void equal_inputs_are_identical_without_a_worker(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out;
	struct result *r = fixture_result(f, "main", 1, 2, 3);
	struct plan plan = r->plan;
	plan_init(&r->plan);
	result_free(r);
	ok(judge_unrun(f->db, config, &plan, 5000, &out, &err));
	assert_null(plan.request.cell); /* judge_unrun() takes ownership */
	assert_int_equal(out.verdict, VERDICT_IDENTICAL);
	assert_int_equal(cell_of(f, out.comparison, 2).verdict, VERDICT_IDENTICAL);
	assert_true(isnan(cell_of(f, out.comparison, 0).change_pct));
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM comparison WHERE identical_by = 'tree' AND environment IS NULL"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state = 'done'"), 1);
	plan_fini(&plan);
}

static void equal_modules_are_identical(void **state)
{
	struct fixture *f = *state;
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	fixture_build(r, ROLE_BASE, "cached", "aaaa");
	fixture_build(r, ROLE_TARGET, "ok", "aaaa");
	result_end(r);
	assert_int_equal(judged(f, r, 5000).verdict, VERDICT_IDENTICAL);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison WHERE identical_by = 'module'"), 1);
}

static void broken_sides_are_blamed_rightly(void **state)
{
	struct fixture *f = *state;
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	fixture_build(r, ROLE_BASE, "ok", "aaaa");
	fixture_build(r, ROLE_TARGET, "failed", "");
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_FAILED);
	assert_string_equal(cell_of(f, out.comparison, 0).failure, "build");
	assert_string_equal(cell_of(f, out.comparison, 1).reason, "make: exit 2");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM build WHERE state = 'failed' AND exit_status = 2"), 1);

	r = fixture_result(f, "main", 1, 3, 1);
	fixture_build(r, ROLE_BASE, "failed", "");
	fixture_build(r, ROLE_TARGET, "ok", "bbbb");
	out = judged(f, r, 6000);
	assert_int_equal(out.verdict, VERDICT_NOT_COMPARABLE);
	assert_non_null(strstr(cell_of(f, out.comparison, 0).reason, "base build: make: exit 2"));

	r = fixture_result(f, "main", 1, 4, 1); /* failed in the same way: inherited */
	fixture_build(r, ROLE_BASE, "failed", "");
	fixture_build(r, ROLE_TARGET, "failed", "");
	assert_int_equal(judged(f, r, 7000).verdict, VERDICT_NOT_COMPARABLE);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'failing'"), 1); /* of the first, which caused it */

	r = fixture_result(f, "main", 1, 5, 1); /* a commit against itself has no other commit to inherit from */
	r->plan.request.kind = JOBKIND_SELFCHECK;
	fixture_build(r, ROLE_BASE, "failed", "");
	fixture_build(r, ROLE_TARGET, "failed", "");
	out = judged(f, r, 8000);
	assert_int_equal(out.verdict, VERDICT_FAILED);
	assert_string_equal(cell_of(f, out.comparison, 0).failure, "build");
}

static void failures_of_a_cell(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0, 0, 0, 0, 0.05, -0.5, 0 };
	struct result *r = fixture_result(f, "main", 1, 2, 7);
	fixture_measured(r, shift);
	fixture_check(r, ROLE_TARGET, 0, "wrong", "feed");
	fixture_fault(r, ROLE_TARGET, 1, "crash");
	fixture_fault(r, ROLE_BASE, 2, "timeout");
	fixture_fault(r, ROLE_DEVICE, 3, "device");
	fixture_fault(r, ROLE_DEVICE, 5, "unsure");
	fixture_fault(r, ROLE_DEVICE, 6, "unpaired");
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_FAILED);
	struct store_cell c = cell_of(f, out.comparison, 0);
	assert_int_equal(c.verdict, VERDICT_FAILED);
	assert_string_equal(c.failure, "wrong");
	assert_non_null(strstr(c.reason, "O[query 17, head 3, 64]"));
	assert_true(isnan(c.change_pct)); /* wrong takes precedence over slow: no timing */
	assert_string_equal(cell_of(f, out.comparison, 1).failure, "crash");
	assert_int_equal(cell_of(f, out.comparison, 2).verdict, VERDICT_NOT_COMPARABLE);
	assert_int_equal(cell_of(f, out.comparison, 3).verdict, VERDICT_REJECTED);
	assert_int_equal(cell_of(f, out.comparison, 4).verdict, VERDICT_REGRESSION);
	c = cell_of(f, out.comparison, 5);
	assert_int_equal(c.verdict, VERDICT_UNDECIDED); /* an uncertain gain blames no commit */
	assert_string_equal(c.failure, "");
	assert_true(isnan(c.change_pct));
	assert_int_equal(cell_of(f, out.comparison, 6).verdict, VERDICT_NOT_COMPARABLE);
	assert_string_equal(cell_of(f, out.comparison, 6).failure, "");
	assert_int_equal(out.alert_is_new, 1); /* the slow cell is reported although another failed */
}

static void unsupported_cells_are_no_failure(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0, 0, 0, 0 };
	struct result *r = fixture_result(f, "main", 1, 2, 4);
	fixture_measured(r, shift);
	fixture_check(r, ROLE_BASE, 0, "unsupported", "");
	fixture_check(r, ROLE_TARGET, 0, "unsupported", "");
	fixture_check(r, ROLE_BASE, 1, "unsupported", "");
	fixture_check(r, ROLE_TARGET, 2, "unsupported", "");
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_FAILED);
	assert_int_equal(cell_of(f, out.comparison, 0).verdict, VERDICT_UNSUPPORTED);
	assert_int_equal(cell_of(f, out.comparison, 1).verdict, VERDICT_ADDED);
	assert_true(isnan(cell_of(f, out.comparison, 1).change_pct));
	assert_string_equal(cell_of(f, out.comparison, 2).failure, "unsupported"); /* its base failed */
	for (int k = 0; k < 2; k++) {                                              /* also of a commit against itself */
		r = fixture_result(f, "main", 2, 3 + (unsigned)k, 2);
		r->plan.request.kind = k ? JOBKIND_SELFCHECK : JOBKIND_COMPARE;
		fixture_measured(r, shift);
		fixture_check(r, ROLE_BASE, 1, "unsupported", "");
		fixture_check(r, ROLE_TARGET, 1, "unsupported", "");
		out = judged(f, r, 6000 + k);
		assert_int_equal(out.verdict, VERDICT_UNCHANGED);
		assert_int_equal(cell_of(f, out.comparison, 1).verdict, VERDICT_UNSUPPORTED);
	}
	r = fixture_result(f, "main", 2, 5, 1); /* no check has shown whether the target fails, too */
	fixture_build(r, ROLE_BASE, "ok", "aaaa");
	fixture_build(r, ROLE_TARGET, "ok", "bbbb");
	fixture_check(r, ROLE_BASE, 0, "unsupported", "");
	assert_int_equal(judged(f, r, 7000).verdict, VERDICT_NOT_COMPARABLE);
}

static void an_unsupported_cell_of_a_peer_is_no_regression(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0, 0 };
	struct result *r = fixture_result(f, "", 1, 2, 2);
	r->plan.request.kind = JOBKIND_PEER;
	snprintf(r->plan.request.side[0].provider, sizeof r->plan.request.side[0].provider, "cudnn");
	fixture_measured(r, shift);
	fixture_check(r, ROLE_TARGET, 0, "unsupported", "");
	fixture_check(r, ROLE_BASE, 1, "unsupported", "");
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_REMOVED);
	assert_int_equal(cell_of(f, out.comparison, 1).verdict, VERDICT_ADDED);
	assert_memory_equal(cell_of(f, out.comparison, 0).reason, "target: ", 8);
	assert_memory_equal(cell_of(f, out.comparison, 1).reason, "cudnn: ", 7);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 0);
}

static void different_inputs_are_not_compared(void **state)
{
	struct fixture *f = *state;
	double shift = 0;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_measured(r, &shift);
	fixture_check(r, ROLE_TARGET, 0, "", "beef");
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_NOT_COMPARABLE);
	assert_non_null(strstr(cell_of(f, out.comparison, 0).reason, "different inputs"));
}

static void unmeasured_cells_are_undecided(void **state)
{
	struct fixture *f = *state;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_accepted(r);
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(out.verdict, VERDICT_UNDECIDED);
	assert_string_equal(cell_of(f, out.comparison, 0).reason, "not measured: the budget ended first");
}

/* One valid run, two rejected because of heat, and no time left: the missing number is reported as well as the number taken. */
static void an_undecided_cell_has_a_reason(void **state)
{
	struct fixture *f = *state;
	struct noise noise = { .state = 11, .white = 0.002 };
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_accepted(r);
	for (int run = 1; run <= 3; run++) {
		fixture_run(r, run, 1);
		fixture_timing(r, &noise, run, 1, 0, SERIES_DEVICE, "", 0, run > 1 ? 0x40 : 0x4);
	}
	r->plan.request.limits.budget_s = 60;
	r->done.gpu_s = 60.5;
	int64_t id = judged(f, r, 5000).comparison;
	for (int again = 0; again < 2; again++) {
		struct store_cell c = cell_of(f, id, 0);
		bool changed;
		assert_int_equal(c.verdict, VERDICT_UNDECIDED);
		assert_non_null(strstr(c.reason, "; 2 more did not count: heat reduced the clock"));
		assert_non_null(strstr(c.reason, "; the base's budget of 60 s ended first"));
		ok(judge_again(f->db, id, &changed, &err));
	}
}

static void throttled_runs_are_discarded(void **state)
{
	struct fixture *f = *state;
	struct noise noise = { .state = 9, .white = 0.002 };
	double held_s[2] = { 0 }; /* by heat, by the power cap */
	for (int all = 0; all < 2; all++) {
		struct result *r = fixture_result(f, "main", 1, (unsigned)(2 + all), 1);
		fixture_accepted(r);
		for (int run = 1; run <= 8; run++) {
			bool hot = all || run > 4;
			fixture_run(r, run, 1);
			fixture_timing(r, &noise, run, 1, 0, SERIES_DEVICE, "", hot ? 0.2 : 0, hot ? 0x40 : 0x4);
			for (int i = 0; i < 2 * r->cell[run - 1]->n; i++)
				held_s[!hot] += (double)r->cell[run - 1]->ms[i % 2][i / 2] / 1e3;
		}
		struct judge_outcome out = judged(f, r, 5000);
		struct store_cell c = cell_of(f, out.comparison, 0);
		assert_int_equal(c.verdict, all ? VERDICT_REJECTED : VERDICT_UNCHANGED);
		if (all)
			assert_non_null(strstr(c.reason, "in all 8 runs heat reduced the clock"));
		else
			assert_int_equal(c.runs, 4);
	}
	/* how long each reason held the clock, for monitoring: in void runs, too */
	char sql[200];
	static const char *const reasons[] = { "hw_thermal", "sw_power_cap" };
	assert_true(held_s[0] > 0 && held_s[1] > 0);
	for (int k = 0; k < 2; k++) {
		snprintf(sql, sizeof sql,
			"SELECT count(*) FROM device_throttle WHERE reason = '%s' AND abs(seconds - %.17g) < 1e-9", reasons[k],
			held_s[k]);
		assert_int_equal(fixture_number(f, sql), 1);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM device_throttle"), 2);
}

/* A planted regression in a cell that was once noisy; then in one that is. */
static void clear_runs_outweigh_learned_noise(void **state)
{
	struct fixture *f = *state;
	for (int k = 0; k < 2; k++) {
		struct noise noise = { .state = 21, .white = 0.002, .run = k ? 0.04 : 0.012 };
		struct result *r = fixture_result(f, "main", 1, (unsigned)(2 + k), 1);
		r->plan.request.cell[0].tau0 = k ? 0.08 : 0.26;
		r->plan.request.cell[0].nu0 = 10;
		r->plan.request.cell[0].underpowered_pct = k ? 9.3 : 27.9;
		fixture_accepted(r);
		for (int run = 1; run <= 8; run++) {
			fixture_run(r, run, run > 4 ? 2 : 1);
			fixture_timing(r, &noise, run, run > 4 ? 2 : 1, 0, SERIES_DEVICE, "", 0.1, 0);
		}
		struct judge_outcome out = judged(f, r, 5000);
		struct store_cell c = cell_of(f, out.comparison, 0);
		assert_int_equal(c.runs, 8);
		assert_int_equal(c.verdict, k ? VERDICT_UNDECIDED : VERDICT_REGRESSION);
		assert_true(!(c.flags & FLAG_UNDERPOWERED) == (k == 0));
		assert_true(!out.alert_is_new == (k == 1));
		if (k == 0)
			assert_true(c.ci_low_pct > -12 && c.ci_high_pct < -7);
	}
}

static void more_frequent_slow_calls_are_flagged(void **state)
{
	struct fixture *f = *state;
	struct noise noise = { .state = 11, .white = 0.001 };
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_accepted(r);
	for (int run = 1; run <= 8; run++) {
		fixture_run(r, run, 1);
		fixture_timing(r, &noise, run, 1, 0, SERIES_DEVICE, "", 0, 0);
		r->cell[run - 1]->ms[1][3] *= 1.25f;
		r->cell[run - 1]->ms[1][9] *= 1.25f;
	}
	struct judge_outcome out = judged(f, r, 5000);
	struct store_cell c = cell_of(f, out.comparison, 0);
	assert_int_equal(c.verdict, VERDICT_UNCHANGED); /* no second set confirmed it */
	assert_true(c.flags & FLAG_TAIL && c.decider == DECIDER_PAIRS);
	assert_non_null(strstr(c.reason, "1 call in 8 takes 25 % longer: "));
	assert_non_null(strstr(c.reason, "not confirmed by a second set of runs"));
	assert_int_equal(out.alert, 0);
}

static void ended_jobs_get_no_result(void **state)
{
	struct fixture *f = *state;
	double shift = 0;
	struct judge_outcome out;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_measured(r, &shift);
	ok(store_job_state(f->db, r->plan.request.job, JOBSTATE_CANCELLED, "by anna", 4000, &err));
	ok(db_commit(f->db, &err));
	ok(db_begin(f->db, &err));
	refused(ERR_CONFLICT, judge_finish(f->db, config, r, 5000, &out, &err));
	db_rollback(f->db);
	result_free(r);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event"), 0);
}

static void one_job_one_comparison(void **state)
{
	struct fixture *f = *state;
	double shift = 0;
	struct judge_outcome out;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_measured(r, &shift);
	ok(judge_finish(f->db, config, r, 5000, &out, &err));
	ok(db_commit(f->db, &err));
	ok(db_begin(f->db, &err));
	err_clear(&err);
	assert_int_equal(judge_finish(f->db, config, r, 5001, &out, &err), -1);
	db_rollback(f->db);
	result_free(r);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM cell"), 1);
}

static void etag_of(struct fixture *f, int64_t comparison, char etag[65])
{
	struct buf body;
	buf_init(&body, 1 << 20);
	ok(view_body(f->db, comparison, &body, etag, &err));
	buf_fini(&body);
}

static void judging_again_gives_equal_results(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0.04, 0, -0.04, 0.0145 };
	char before[65], after[65];
	struct store_cell cells[4];
	bool changed;
	struct result *r = fixture_result(f, "main", 1, 2, 4);
	fixture_measured(r, shift);
	int64_t id = judged(f, r, 5000).comparison;
	etag_of(f, id, before);
	for (int i = 0; i < 4; i++)
		cells[i] = cell_of(f, id, i);
	ok(judge_again(f->db, id, &changed, &err));
	etag_of(f, id, after);
	assert_false(changed);
	assert_string_equal(before, after); /* to the last byte */
	/* from the archive */
	assert_int_equal(fixture_archive(f, 5000), 0); /* none is older than that */
	assert_int_equal(fixture_archive(f, 5001), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sample WHERE ms IS NOT NULL OR mhz IS NOT NULL"), 0);
	int64_t reads = archive_reads();
	ok(judge_again(f->db, id, &changed, &err));
	assert_int_equal(archive_reads() - reads, 1); /* however often its cells are requested */
	etag_of(f, id, after);
	assert_false(changed);
	assert_string_equal(before, after);
	/* without the samples, the stored estimates suffice for every verdict and value */
	fixture_forget_times(f, 5001);
	ok(judge_again(f->db, id, &changed, &err));
	etag_of(f, id, after);
	assert_false(changed);
	assert_string_equal(before, after);
	for (int i = 0; i < 4; i++) {
		struct store_cell c = cell_of(f, id, i);
		assert_int_equal(c.verdict, cells[i].verdict);
		assert_true(c.m == cells[i].m && c.base_median_ms == cells[i].base_median_ms);
	}
}

static void judging_again_follows_the_rule(void **state)
{
	struct fixture *f = *state;
	bool changed;
	struct judge_outcome out = compare(f, "main", 1, 2, 0.04, 5000);
	ok(stmt_run(db_stmt(f->db, "UPDATE cell SET threshold_pct = 10", &err), &err));
	ok(judge_again(f->db, out.comparison, &changed, &err));
	assert_true(changed);
	assert_int_equal(cell_of(f, out.comparison, 0).verdict, VERDICT_UNCHANGED);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM comparison WHERE verdict = 'unchanged' AND n_regressions = 0"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open'"), 1); /* only a user ends it */
	refused(ERR_NOT_FOUND, judge_again(f->db, 4711, &changed, &err));
}

static void add_node(struct result *r, enum role role, const char *kernel, int registers, unsigned code)
{
	struct msg m = { .t = MSG_NODE,
		.u.node = { .cell = 0, .phase = "run", .grid = { 132, 1, 1 }, .block = { 384, 1, 1 }, .registers = registers } };
	m.u.node.role = role;
	snprintf(m.u.node.kernel, sizeof m.u.node.kernel, "%s", kernel);
	if (code)
		snprintf(m.u.node.code_sha256, sizeof m.u.node.code_sha256, "%064x", code);
	fixture_add(r, &m);
}

static void changed_kernels_are_named(void **state)
{
	struct fixture *f = *state;
	double shift = 0;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_measured(r, &shift);
	static const enum role roles[] = { ROLE_BASE, ROLE_TARGET };
	for (int i = 0; i < 2; i++) {
		struct msg m = { .t = MSG_WORK,
			.u.work = { .cell = 0, .flops_issued = 2e12, .bytes_moved = -1, .blocks_kept = 7 } };
		m.u.work.role = roles[i];
		snprintf(m.u.work.provider, sizeof m.u.work.provider, "hopper");
		fixture_add(r, &m);
		add_node(r, roles[i], "forward", i ? 255 : 168, 0);
		add_node(r, roles[i], "combine", 32, 0xc0);
		add_node(r, roles[i], "cast", 32, 0xca + (unsigned)i);
		add_node(r, roles[i], "lists", 32, i ? 0xab : 0); /* code known on one side: not reported */
		add_node(r, roles[i], i ? "only_target" : "only_base", 1, 0);
	}
	int64_t id = judged(f, r, 5000).comparison;
	struct buf nodes;
	buf_init(&nodes, 1 << 16);
	ok(view_artifact(f->db, "cell", cell_of(f, id, 0).id, "nodes_changed", &nodes, &err));
	assert_non_null(strstr(nodes.data, "\"changes\":4,\"base\":5,\"target\":5"));
	assert_non_null(strstr(nodes.data, "\"forward\""));
	assert_non_null(strstr(nodes.data, "\"registers\":255"));
	assert_non_null(strstr(nodes.data, "\"kernel\":\"only_target\",\"base\":null"));
	assert_null(strstr(nodes.data, "combine"));
	assert_null(strstr(nodes.data, "lists"));
	assert_non_null(
		strstr(nodes.data, "\"kernel\":\"cast\",\"base\":{\"grid\":[132,1,1],\"block\":[384,1,1],\"registers\":32,"
				   "\"local_bytes\":0,\"shared_bytes\":0,\"code_sha256\":\"0000"));
	buf_clear(&nodes);
	ok(view_artifact(f->db, "cell", cell_of(f, id, 0).id, "nodes", &nodes, &err));
	assert_non_null(strstr(nodes.data, "\"provider\":\"hopper\""));
	assert_non_null(strstr(nodes.data, "combine"));
	buf_fini(&nodes);
	assert_int_equal(
		fixture_number(
			f, "SELECT count(*) FROM metric f JOIN metric_name m ON m.id = f.name WHERE m.name = 'base.bytes_moved'"),
		0); /* -1: unknown */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric f JOIN metric_name m ON m.id = f.name WHERE m.name = "
					   "'base.blocks_kept' AND f.value = 7"),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_of_change_become_verdicts, setup, teardown),
		cmocka_unit_test_setup_teardown(everything_is_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(quick_jobs_open_no_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_inputs_are_identical_without_a_worker, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_modules_are_identical, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_sides_are_blamed_rightly, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_of_a_cell, setup, teardown),
		cmocka_unit_test_setup_teardown(unsupported_cells_are_no_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unsupported_cell_of_a_peer_is_no_regression, setup, teardown),
		cmocka_unit_test_setup_teardown(different_inputs_are_not_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(unmeasured_cells_are_undecided, setup, teardown),
		cmocka_unit_test_setup_teardown(an_undecided_cell_has_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(throttled_runs_are_discarded, setup, teardown),
		cmocka_unit_test_setup_teardown(clear_runs_outweigh_learned_noise, setup, teardown),
		cmocka_unit_test_setup_teardown(more_frequent_slow_calls_are_flagged, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_jobs_get_no_result, setup, teardown),
		cmocka_unit_test_setup_teardown(one_job_one_comparison, setup, teardown),
		cmocka_unit_test_setup_teardown(judging_again_gives_equal_results, setup, teardown),
		cmocka_unit_test_setup_teardown(judging_again_follows_the_rule, setup, teardown),
		cmocka_unit_test_setup_teardown(changed_kernels_are_named, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
