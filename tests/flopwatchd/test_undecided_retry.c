/* Retries of comparisons that noise left undecided: when, by which job, once, and only while a push or user needs the verdict. */
#include "judge_run.h"

#include "db/db.h"
#include "flopwatchd/record/record.h"

enum { LATER_MS = 600000, NOW_MS = 5000 };

/** Twelve runs of one cell on branch `topic`, which contradict each other if `noisy`. Returns its job. */
static int64_t compared(struct fixture *f, unsigned target, bool noisy, bool quick)
{
	struct noise noise = { .state = 5, .white = 0.001 };
	struct result *r = fixture_result(f, "topic", 1, target, 1);
	int64_t job = r->plan.request.job;
	ok(store_tip_put(f->db, f->repo, "topic", "topic", fixture_sha(target), true, 1000, &err));
	r->plan.request.quick = quick;
	fixture_accepted(r);
	for (int run = 1; run <= 12; run++) {
		fixture_run(r, run, 1);
		fixture_timing(r, &noise, run, 1, 0, SERIES_DEVICE, "", noisy ? run % 2 ? 0.03 : -0.02 : 0, 0);
	}
	struct judge_outcome out = judged(f, r, NOW_MS);
	assert_int_equal(out.verdict, noisy ? VERDICT_UNDECIDED : VERDICT_UNCHANGED);
	assert_true(!noisy || (cell_of(f, out.comparison, 0).flags & FLAG_NOISY));
	return job;
}

static int setup_retry(void **state)
{
	if (setup(state))
		return -1;
	config->retry_after_ms = LATER_MS;
	config->n_repos = 1;
	snprintf(config->repo[0].name, sizeof config->repo[0].name, "kernels");
	return 0;
}

static int requested(struct fixture *f, int64_t now_ms)
{
	int n = retry_queue_due(f->db, config, now_ms, &err);
	if (n < 0)
		fail_msg("%s", err.text);
	return n;
}

static void a_comparison_is_retried_once_and_in_another_hour(void **state)
{
	struct fixture *f = *state;
	char sql[160];
	int64_t first = compared(f, 2, true, false);
	assert_int_equal(fixture_number(f, "SELECT again_at FROM job WHERE state = 'done'"), NOW_MS + LATER_MS);
	assert_int_equal(requested(f, NOW_MS + LATER_MS - 1), 0);
	assert_int_equal(requested(f, NOW_MS + LATER_MS), 1);
	assert_int_equal(requested(f, NOW_MS + 2 * LATER_MS), 0);
	struct store_job job;
	int64_t again = fixture_number(f, "SELECT max(id) FROM job");
	ok(store_job_get(f->db, again, &job, &err));
	assert_true(again != first && job.priority < 0);
	assert_string_equal(job.origin, "retry");
	assert_int_equal(job.kind, JOBKIND_COMPARE);
	assert_string_equal(job.branch, "topic");
	assert_string_equal(job.target_sha, fixture_sha(2));
	snprintf(sql, sizeof sql, "SELECT again_of = %lld AND again_at IS NULL FROM job ORDER BY id DESC LIMIT 1",
		(long long)first);
	assert_int_equal(fixture_number(f, sql), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job_log WHERE line LIKE 'runs of 1 cell varied too much: one "
					   "retry, from %'"),
		1);
	/* undecided a second time, it stays so */
	struct store_comparison c = { .id = fixture_number(f, "SELECT max(id) FROM comparison"), .verdict = VERDICT_UNDECIDED };
	ok(retry_schedule(f->db, config, &job, &c, NOW_MS + LATER_MS, &err));
	assert_int_equal(requested(f, NOW_MS + 9 * LATER_MS), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE again_at IS NOT NULL"), 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM job_log WHERE line LIKE '%again: the comparison stays undecided'"), 1);
}

static void only_cells_undecided_by_noise_are_retried(void **state)
{
	struct fixture *f = *state;
	compared(f, 2, false, false);
	compared(f, 3, true, true); /* a quick job */
	config->retry_after_ms = 0;
	compared(f, 4, true, false);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE again_at IS NOT NULL"), 0);
}

/* `again: 0 s`: earlier pending retries are not queued, nor are they when retries are enabled again. */
static void retries_can_be_disabled(void **state)
{
	struct fixture *f = *state;
	compared(f, 2, true, false);
	config->retry_after_ms = 0;
	assert_int_equal(requested(f, NOW_MS + 1), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE again_at IS NOT NULL"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job_log WHERE line LIKE 'no retry: %'"), 1);
	config->retry_after_ms = LATER_MS;
	assert_int_equal(requested(f, NOW_MS + LATER_MS), 0);
}

/* A shorter pause applies to retries that are scheduled from then on. */
static void a_shorter_pause_starts_no_retry_early(void **state)
{
	struct fixture *f = *state;
	compared(f, 2, true, false);
	config->retry_after_ms = 1000;
	assert_int_equal(requested(f, NOW_MS + 1), 0);
	assert_int_equal(requested(f, NOW_MS + LATER_MS), 1);
}

/* The clock was set back by a year: no retry waits for a year. */
static void a_clock_set_back_delays_no_retry(void **state)
{
	struct fixture *f = *state;
	compared(f, 2, true, false);
	assert_int_equal(requested(f, NOW_MS - 1), 1);
}

static void only_useful_retries_are_queued(void **state)
{
	struct fixture *f = *state;
	static const char *const reasons[] = { "a newer tip", "judged anew", "asked by hand", "a branch that is gone",
		"no such repository" };
	for (int k = 0; k < 5; k++) {
		int64_t first = compared(f, (unsigned)(10 + k), true, false);
		struct store_job job;
		struct stmt *s;
		ok(store_job_get(f->db, first, &job, &err));
		if (k == 0)
			ok(store_tip_put(f->db, f->repo, "topic", "topic", fixture_sha(99), true, 2000, &err));
		if (k == 1)
			ok(store_comparison_verdict(f->db, job.comparison, VERDICT_UNCHANGED, &err));
		if (k == 2)
			ok(store_job_insert(f->db, &job, NOW_MS + 1, &err));
		if (k == 3) {
			s = db_stmt(f->db, "UPDATE branch_tip SET gone = 1 WHERE name = 'topic'", &err);
			ok(stmt_run(s, &err));
		}
		if (k == 4) {
			s = db_stmt(f->db, "UPDATE branch_tip SET gone = 0 WHERE name = 'topic'", &err);
			ok(stmt_run(s, &err));
			config->n_repos = 0;
		}
		if (requested(f, NOW_MS + LATER_MS) != 0)
			fail_msg("asked again in spite of %s", reasons[k]);
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE again_at IS NOT NULL"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_comparison_is_retried_once_and_in_another_hour, setup_retry, teardown),
		cmocka_unit_test_setup_teardown(only_cells_undecided_by_noise_are_retried, setup_retry, teardown),
		cmocka_unit_test_setup_teardown(retries_can_be_disabled, setup_retry, teardown),
		cmocka_unit_test_setup_teardown(a_shorter_pause_starts_no_retry_early, setup_retry, teardown),
		cmocka_unit_test_setup_teardown(a_clock_set_back_delays_no_retry, setup_retry, teardown),
		cmocka_unit_test_setup_teardown(only_useful_retries_are_queued, setup_retry, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
