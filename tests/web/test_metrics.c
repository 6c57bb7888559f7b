/* Values of /metrics are counted as rows are written: they equal the rows, and cost the same however many there are. */
#include "site_fill.h"

#include "db/db.h"

static void run_sql(struct fixture *f, const char *sql)
{
	ok(db_script(f->db, sql, &err));
}

/* Rows that only one side has. */
static void assert_counts_are_those_of_rows(struct fixture *f)
{
#define ROWS                                                                                                                                                    \
	"SELECT 'jobs', state, count(*) FROM job GROUP BY state UNION ALL SELECT 'comparisons', verdict, count(*) FROM "                                        \
	"comparison WHERE kind NOT IN ('peer', 'config', 'environment') GROUP BY verdict UNION ALL SELECT 'alerts', state, count(*) FROM alert GROUP BY state " \
	"UNION ALL SELECT 'notifications', state, count(*) FROM outbox GROUP BY state"
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM (SELECT * FROM (" ROWS ") EXCEPT SELECT * FROM counted WHERE n <> 0)"),
		0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM (SELECT * FROM counted WHERE n <> 0 EXCEPT SELECT * FROM (" ROWS "))"),
		0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM (SELECT device, comparisons, alarms, last_at FROM self_check EXCEPT "
				  "SELECT c.device, count(*), sum(c.n_regressions > 0), max(c.finished_at) FROM "
				  "comparison c WHERE c.environment > 0 AND c.kind IN ('selfcheck', "
				  "'calibrate') GROUP BY c.device)"),
		0);
	assert_int_equal(fixture_number(f, "SELECT sum(n) FROM job_duration"),
		fixture_number(f, "SELECT count(*) FROM job WHERE state IN ('done', 'failed') AND ended_at >= started_at"));
}

static int64_t self_check(struct fixture *f, unsigned n, bool alarms)
{
	struct store_comparison c = { .job = fixture_job(f, "main", n, n, n),
		.repo = f->repo,
		.suite = f->suite,
		.environment = f->environment,
		.device = f->device,
		.kind = JOBKIND_SELFCHECK,
		.base_how = "given",
		.rule_json = "{}",
		.verdict = VERDICT_UNCHANGED,
		.finished_at = 1000 + n };
	if (n % 2)
		c.kind = JOBKIND_CALIBRATE;
	snprintf(c.base_sha, sizeof c.base_sha, "%s", fixture_sha(n));
	snprintf(c.target_sha, sizeof c.target_sha, "%s", fixture_sha(n));
	ok(store_comparison_insert(f->db, &c, &err));
	fixture_cell(f, c.id, 0, CELL, alarms ? 0.1 : 0, alarms ? VERDICT_REGRESSION : VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, c.id, alarms ? VERDICT_REGRESSION : VERDICT_UNCHANGED, &err));
	return c.id;
}

static void counts_follow_the_rows(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	fill(run);
	assert_counts_are_those_of_rows(f);
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 12; i++)
		self_check(f, 20 + i, i % 5 == 0);
	int64_t taken_back = self_check(f, 50, true);
	run_sql(f, "UPDATE job SET state = 'assigned', started_at = 1000 WHERE state = 'queued' AND id % 3 > 0");
	run_sql(f, "UPDATE job SET state = 'measuring' WHERE state = 'assigned' AND id % 2");
	run_sql(f, "UPDATE job SET state = 'done', ended_at = 1000 + 700 * id WHERE state = 'measuring'");
	run_sql(f, "UPDATE job SET state = 'failed', ended_at = 9000000 WHERE state = 'assigned' AND id % 4 = 0");
	run_sql(f, "UPDATE job SET state = 'queued', started_at = NULL WHERE state = 'assigned'");
	run_sql(f, "UPDATE alert SET state = 'acknowledged'");
	run_sql(f, "UPDATE alert SET state = 'open'");
	run_sql(f, "INSERT INTO outbox (message_id, kind, target, payload, next_at, created_at) VALUES ('a', 'webhook', 'a', "
		   "'{}', 1, 1), ('b', 'webhook', 'b', '{}', 1, 1), ('c', 'webhook', 'c', '{}', 1, 1)");
	run_sql(f, "UPDATE outbox SET state = 'sent' WHERE target <> 'c'");
	run_sql(f, "DELETE FROM outbox WHERE target = 'a'");
	run_sql(f, "UPDATE comparison SET kind = kind, verdict = 'failed' WHERE id = 1");
	run_sql(f, "UPDATE cell SET verdict = 'unchanged' WHERE comparison = (SELECT max(id) FROM comparison)");
	ok(store_comparison_verdict(f->db, taken_back, VERDICT_UNCHANGED, &err));
	ok(db_commit(f->db, &err));
	assert_counts_are_those_of_rows(f);
	struct view_false_alarms alarms;
	ok(view_false_alarms(f->db, f->device, &alarms, &err));
	assert_int_equal(alarms.comparisons, 13);
	assert_int_equal(alarms.alarms, 3);
	assert_int_equal(alarms.last_at, 1050);
}

static void durations_lie_in_their_buckets(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	static const int64_t took_ms[] = { 0, 1000, 1001, 5000, 29999, 30000, 3600000, 3600001, 90000000 };
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < sizeof took_ms / sizeof took_ms[0]; i++) {
		char sql[200];
		int64_t id = fixture_job(f, "main", i, i + 1, 1);
		snprintf(sql, sizeof sql, "UPDATE job SET started_at = 5, ended_at = %lld, state = '%s' WHERE id = %lld",
			(long long)(5 + took_ms[i]), i % 2 ? "done" : "failed", (long long)id);
		run_sql(f, sql);
	}
	ok(db_commit(f->db, &err));
	struct view_durations d;
	ok(view_durations(f->db, &d, &err));
	static const int64_t want[VIEW_DURATION_BUCKETS] = { 2, 4, 4, 6, 6, 6, 6, 6, 6, 7 };
	for (int i = 0; i < VIEW_DURATION_BUCKETS; i++)
		assert_int_equal(d.below[i], want[i]);
	assert_int_equal(d.n, 9);
	assert_float_equal(d.sum_s, 97267.001, 1e-6);
}

static int64_t cost_of_metrics(struct run *run)
{
	int64_t before = db_steps(run->f->db);
	struct answer a = get(run, "/metrics");
	assert_int_equal(a.status, 200);
	answer_free(&a);
	return db_steps(run->f->db) - before;
}

/* In steps of SQLite's virtual machine, which do not depend on the load of the test's machine. */
static void it_costs_the_same_with_more_history(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	fill(run);
	ok(db_begin(f->db, &err));
	self_check(f, 20, false);
	ok(db_commit(f->db, &err));
	cost_of_metrics(run); /* prepares the statements */
	int64_t few = cost_of_metrics(run);
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 1000; i++) {
		self_check(f, 100 + i, false);
		fixture_comparison(f, "main", i, i + 1, i % 2 ? VERDICT_UNCHANGED : VERDICT_REGRESSION, 9000 + i);
	}
	run_sql(f, "INSERT INTO outbox (message_id, kind, target, payload, state, next_at, created_at) SELECT id, 'webhook', "
		   "'a', '{}', "
		   "'sent', 1, 1 FROM comparison");
	run_sql(f, "UPDATE job SET started_at = 1, ended_at = 5000, state = 'done' WHERE state = 'queued'");
	ok(db_commit(f->db, &err));
	int64_t many = cost_of_metrics(run);
	assert_true(few > 100);
	if (many > few + few / 10)
		fail_msg("%lld steps with 3 comparisons, %lld with 2,003", (long long)few, (long long)many);
	assert_counts_are_those_of_rows(f);
}

#define METRICS_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		METRICS_TEST(counts_follow_the_rows),
		METRICS_TEST(durations_lie_in_their_buckets),
		METRICS_TEST(it_costs_the_same_with_more_history),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
