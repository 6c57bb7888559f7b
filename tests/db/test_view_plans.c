/* No query of pages, or of the queue, scans a large table. */
#include "fixture_views.h"

#include "db/db.h"

static void see_nothing_comparison(void *arg, const struct view_comparison *row)
{
	(void)arg, (void)row;
}
static void see_nothing_repo(void *arg, const struct view_repo *row)
{
	(void)arg, (void)row;
}
static void see_nothing_branch(void *arg, const struct view_branch *row)
{
	(void)arg, (void)row;
}
static void see_nothing_commit(void *arg, const struct view_commit *row)
{
	(void)arg, (void)row;
}
static void see_nothing_headline(void *arg, const struct view_headline *row)
{
	(void)arg, (void)row;
}
static void see_nothing_point(void *arg, const struct view_point *row)
{
	(void)arg, (void)row;
}
static void see_nothing_alert(void *arg, const struct view_alert *row)
{
	(void)arg, (void)row;
}
static void see_nothing_slow_branch(void *arg, const struct view_slow_branch *row)
{
	(void)arg, (void)row;
}
static void see_nothing_profile(void *arg, const struct view_profile *row)
{
	(void)arg, (void)row;
}
static void see_nothing_notification(void *arg, const struct view_notification *row)
{
	(void)arg, (void)row;
}
static void see_nothing_suite(void *arg, const struct view_suite_version *row)
{
	(void)arg, (void)row;
}
static void see_nothing_event(void *arg, const struct view_alert_event *row)
{
	(void)arg, (void)row;
}
static void see_nothing_job(void *arg, const struct view_job *row)
{
	(void)arg, (void)row;
}
static void see_nothing_device(void *arg, const struct view_device *row)
{
	(void)arg, (void)row;
}
static void see_nothing_cell(void *arg, const struct store_cell *row)
{
	(void)arg, (void)row;
}
static void see_nothing_metric(void *arg, const char *name, const char *unit, double value)
{
	(void)arg, (void)name, (void)unit, (void)value;
}
static void see_nothing_log(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)arg, (void)id, (void)at, (void)line;
}
static void see_nothing_alert_update(void *arg, int64_t id, int64_t at, const char *kind, const char *payload)
{
	(void)arg, (void)id, (void)at, (void)kind, (void)payload;
}
static void see_nothing_bisect(void *arg, const struct store_bisect *row)
{
	(void)arg, (void)row;
}
static void see_nothing_bisect_commit(void *arg, int n, const char *sha, const char *subject)
{
	(void)arg, (void)n, (void)sha, (void)subject;
}
static void see_nothing_count(void *arg, const char *what, const char *label, int64_t n)
{
	(void)arg, (void)what, (void)label, (void)n;
}

static void see_nothing_throttle(void *arg, const char *device_uuid, const char *reason, double seconds)
{
	(void)arg, (void)device_uuid, (void)reason, (void)seconds;
}

static void see_nothing_word(void *arg, const char *word)
{
	(void)arg, (void)word;
}
static void see_nothing_grid(void *arg, const struct view_grid *row)
{
	(void)arg, (void)row;
}

/** Every statement of the folder, prepared once. */
static void take_all_statements(struct fixture *f)
{
	struct store_job job;
	struct store_alert alert = { .repo = f->repo, .comparison = 10, .cells_json = "[{\"cell\":\"x\"}]", .worst_pct = -2 };
	bool is_new;
	int n, failed;
	int64_t ids[STORE_ALERT_RECOVER_MAX], id;
	struct store_accepted accepted;
	struct view_filter filters[] = { { 0 }, { .repo = "kernels" }, { .repo = "kernels", .branch = "main" },
		{ .verdict = "failed" }, { .repo = "kernels", .verdict = "failed" },
		{ .repo = "kernels", .branch = "main", .verdict = "failed" }, { .repo = "kernels", .target = fixture_sha(3) },
		{ .has_regressions = true }, { .repo = "kernels", .has_regressions = true },
		{ .repo = "kernels", .branch = "main", .has_regressions = true } };
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
		ok(view_comparisons(f->db, &filters[i], see_nothing_comparison, NULL, &err));
	ok(view_repos(f->db, see_nothing_repo, NULL, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_nothing_branch, NULL, &err));
	ok(view_commits(f->db, "00000", 10, see_nothing_commit, NULL, &err));
	ok(view_comparison(f->db, 3, see_nothing_comparison, NULL, &err));
	ok(view_headline(f->db, 3, see_nothing_headline, NULL, &err));
	ok(view_grid(f->db, "kernels", "main", "ffa", 10, see_nothing_grid, NULL, &err));
	ok(view_compare(f->db, "kernels", fixture_sha(2), fixture_sha(3), NULL, &id, &err));
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = "main", .cell = keys[0], .device = "sim-0" },
		10, see_nothing_point, NULL, &err));
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = NULL, .cell = keys[0], .device = NULL }, 10,
		see_nothing_point, NULL, &err));
	ok(db_begin(f->db, &err));
	snprintf(alert.branch, sizeof alert.branch, "main");
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(10));
	ok(store_alert_open(f->db, &alert, 1, &is_new, &err));
	ok(store_alert_recovered(f->db, 12, ids, &n, &err));
	ok(store_alert_older_tips(f->db, 12, ids, &n, &err));
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_FAILING, "tiny", keys[0], "x", &err), 0);
	assert_int_equal(store_accepted_cell(f->db, 12, keys[0], &err), 0);
	/* store_accepted_of searches the regressions only if the repository has an accepted one */
	ok(store_alert_change(f->db, alert.id, ALERTSTATE_ACCEPTED, "anna", "wanted", 2, &err));
	ok(store_accepted_of(f->db, 12, &accepted, &err));
	assert_int_equal(store_accepted_comparisons(f->db, alert.id, ids, STORE_ALERT_RECOVER_MAX, &err), 0);
	assert_int_equal(store_accepted_alerts(f->db, alert.id, ids, STORE_ALERT_RECOVER_MAX, &err), 0);
	ok(store_accepted_step(f->db, f->repo, "main", fixture_sha(10), "tiny", keys[0], &id, &err));
	assert_int_equal(store_range_known(f->db, f->repo, fixture_sha(9), fixture_sha(10), &err), 0);
	id = fixture_job(f, "main", 0, 500, 1);
	ok(store_job_supersede(f->db, id, 1, &n, &err));
	assert_int_equal(store_job_planned(f->db, f->repo, fixture_sha(3), &err), 1);
	assert_int_equal(store_job_next(f->db, DEVICE_CPU, "", "[]", &job, &err), 1);
	assert_int_equal(store_job_next_unresolved(f->db, &(struct store_job_round_robin){ 0 }, "[]", &job, &err), 0);
	ok(store_job_drop(f->db, f->repo, "main", JOBSTATE_TARGET_MISSING, "x", 1, &n, &err));
	ok(store_job_waiting(f->db, &id, &err));
	ok(store_job_recover(f->db, 1, &n, &failed, &err));
	fixture_archive(f, 1000000);
	ok(store_comparison_verdict(f->db, 3, VERDICT_UNCHANGED, &err));
	db_rollback(f->db);
}

/** The position of a commit. */
static void take_commit_statements(struct fixture *f)
{
	struct commit_verdict v;
	struct store_commit_found found;
	struct store_job job;
	char sha[65];
	ok(db_begin(f->db, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(4711), true, 5, &err));
	ok(db_commit(f->db, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_nothing_branch, NULL, &err));
	ok(view_branch_suites(f->db, "kernels", "main", see_nothing_word, NULL, &err));
	ok(view_branch_suites(f->db, "kernels", "nobody", see_nothing_word, NULL, &err));
	ok(view_grid(f->db, "kernels", "main", "ffa", 30, see_nothing_grid, NULL, &err));
	ok(view_cell_keys(f->db, "kernels", "main", see_nothing_word, NULL, &err));
	ok(view_cell_keys(f->db, "kernels", NULL, see_nothing_word, NULL, &err));
	ok(store_commit_before(f->db, f->repo, "main", fixture_sha(30), sha, &v, &err));
	assert_string_equal(sha, fixture_sha(29));
	commit_verdict_fini(&v);
	ok(store_commit_plan(f->db, 3, &v, &err));
	assert_int_equal(v.n, 1);
	commit_verdict_fini(&v);
	ok(store_commit_find(f->db, NULL, fixture_sha(3), &found, &err));
	assert_int_equal(found.n, 1);
	ok(store_job_get(f->db, 3, &job, &err));
	assert_int_equal(store_job_covers(f->db, &job, "other", &err), 0);
}

static void take_live_statements(struct fixture *f)
{
	static const char *const states[] = { NULL, "open", "done" };
	struct store_runs runs;
	struct store_cell cell;
	struct view_around around;
	int open_alerts;
	int64_t id;
	for (int i = 0; i < 3; i++) {
		ok(view_alerts(f->db, states[i], 0, 10, see_nothing_alert, NULL, &err));
		ok(view_jobs(f->db, states[i], 0, 10, see_nothing_job, NULL, &err));
	}
	ok(view_alert_of(f->db, "kernels", fixture_sha(3), see_nothing_alert, NULL, &err));
	ok(view_bisects(f->db, 0, 10, see_nothing_bisect, NULL, &err));
	ok(view_bisect_commits(f->db, 1, see_nothing_bisect_commit, NULL, &err));
	ok(view_around(f->db, 1, &around, &err));
	ok(view_alerts_open(f->db, &open_alerts, &err));
	ok(view_alarms(f->db, "kernels", "main", 10, see_nothing_alert, NULL, &open_alerts, &err));
	ok(view_slow_branches(f->db, see_nothing_slow_branch, NULL, &err));
	assert_true(view_profile_of_job(f->db, 1, see_nothing_profile, NULL, &err) >= 0);
	ok(view_notification_last(f->db, "webhook", "chat", see_nothing_notification, NULL, &err));
	ok(view_suite_versions(f->db, see_nothing_suite, NULL, &err));
	ok(view_alert_events(f->db, 1, see_nothing_event, NULL, &err));
	ok(view_job(f->db, 1, see_nothing_job, NULL, &err));
	ok(view_log(f->db, 1, 0, 10, see_nothing_log, NULL, &err));
	ok(view_devices(f->db, see_nothing_device, NULL, &err));
	ok(view_events(f->db, 0, 10, see_nothing_alert_update, NULL, &err));
	ok(view_event_ends(f->db, &(int64_t){ 0 }, &id, &err));
	for (enum view_list list = VIEW_LIST_COMPARISONS; list <= VIEW_LIST_NOTIFICATIONS; list++)
		ok(view_seek(f->db, list, 1, &id, &err));
	ok(view_counts(f->db, see_nothing_count, NULL, &err));
	ok(store_throttle_each(f->db, see_nothing_throttle, NULL, &err));
	ok(view_cells(f->db, 3, see_nothing_cell, NULL, &err));
	ok(view_metrics(f->db, 1, see_nothing_metric, NULL, &err));
	assert_int_equal(store_cell_next(f->db, 3, -1, &cell, &err), 1);
	ok(store_cell_runs(f->db, cell.id, SERIES_DEVICE, &runs, &err));
	buf_fini(&runs.values);
	ok(store_outbox_next_at(f->db, 0, NULL, 0, &id, &err));
}

static int scans, accepted_by_index;
static bool print_scans = true;

static void check_step(void *arg, const char *sql, const char *step)
{
	static const char *const large[] = { "job", "cell", "sample", "comparison", "event", "run", "git_commit", "job_log",
		"metric", "artifact", "c", "j", "x", "a", "b", "l", "t", "h", "served", "alert", "alert_event", "m", "q", "p",
		"outbox" };
	(void)arg;
	if (strncmp(sql, "WITH expected ", 14) == 0 &&
		strncmp(step, "SEARCH a USING INDEX alert_accepted (repo=? AND kind=?)", 55) == 0)
		accepted_by_index++;
	/* the plan of an upsert into a parent lists a scan of its children that only runs while references are broken */
	if (strncmp(step, "SCAN ", 5) != 0 || strstr(sql, " ON CONFLICT "))
		return;
	for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
		size_t len = strlen(large[i]);
		if (strncmp(step + 5, large[i], len) == 0 && (step[5 + len] == 0 || step[5 + len] == ' ')) {
			/* repo, branch tips, devices and lists of names are small and may be scanned */
			if (print_scans)
				print_error("%s\n    in %s\n", step, sql);
			scans++;
		}
	}
}

static void no_query_reads_a_large_table_whole(void **state)
{
	struct fixture *f = *state;
	fill(f, 30);
	assert_int_equal(fixture_archive(f, 1002), 1); /* this connection's table must outlive the rollback below */
	take_all_statements(f);
	take_live_statements(f);
	take_commit_statements(f);
	scans = 0;
	ok(db_explain(f->db, check_step, NULL, &err));
	assert_int_equal(scans, 0);
	assert_int_equal(accepted_by_index, 2); /* statements that select the accepted regressions of a comparison */
	/* the test detects scans at all */
	print_scans = false;
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state_why = 'x'"), 0);
	ok(db_explain(f->db, check_step, NULL, &err));
	assert_int_equal(scans, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_query_reads_a_large_table_whole, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
