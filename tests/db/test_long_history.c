/* Queries of planning, judging, bisecting and pages cost the same however long the history of a repository is. */
/* Left to `make check`: takes seconds. */
#include "fixture_db.h"

#include "db/db.h"

enum { SOME = 20, MANY = 400 };

/** Comparisons of that many commits of the upstream branch, and of other branches. */
static void fill(struct fixture *f, unsigned n)
{
	unsigned from = (unsigned)fixture_number(f, "SELECT count(*) FROM mainline");
	ok(db_begin(f->db, &err));
	for (unsigned i = from + 1; i <= n; i++) {
		char branch[16];
		snprintf(branch, sizeof branch, "b%u", i);
		fixture_comparison(f, branch, i, 1000000 + i, VERDICT_UNCHANGED, i);
		fixture_comparison(f, "main", i - 1, i, VERDICT_UNCHANGED, i);
		struct stmt *s =
			db_stmt(f->db, "INSERT INTO mainline (repo, sha, position) VALUES (:repo, :sha, :position)", &err);
		stmt_int(s, ":repo", f->repo);
		stmt_text(s, ":sha", fixture_sha(i));
		stmt_int(s, ":position", i);
		ok(stmt_run(s, &err));
	}
	ok(stmt_run(db_stmt(f->db, "UPDATE comparison SET target_build = 1", &err), &err));
	ok(db_commit(f->db, &err));
}

static int setup(void **state)
{
	int result = fixture_setup(state);
	struct fixture *f = *state;
	if (result == 0) {
		fixture_ground(f);
		ok(stmt_run(db_stmt(f->db,
				    "INSERT INTO build (id, inputs_hash, toolchain, device_kind, module_sha, state, built_at) "
				    "VALUES (1, 'in', 'gcc', 'cpu', 'so', 'ok', 1)",
				    &err),
			&err));
	}
	return result;
}

typedef void request_fn(struct fixture *f, unsigned n);

static int64_t steps_beside(struct fixture *f, unsigned n, request_fn *request)
{
	fill(f, n);
	request(f, n); /* prepares its statement */
	int64_t before = db_steps(f->db);
	request(f, n);
	return db_steps(f->db) - before;
}

static void costs_the_same(struct fixture *f, request_fn *request)
{
	int64_t few = steps_beside(f, SOME, request), many = steps_beside(f, MANY, request);
	if (many > few)
		fail_msg("%lld steps beside %d commits, %lld beside %d", (long long)few, SOME, (long long)many, MANY);
}

static void query_judged(struct fixture *f, unsigned n)
{
	struct store_judged judged;
	err_clear(&err);
	assert_int_equal(store_environment_judged(f->db, f->repo, f->environment, &judged, &err), 1);
	assert_string_equal(judged.sha, fixture_sha(n));
	assert_string_equal(judged.module, "so");
}

static void what_was_judged_before_an_environment_changed(void **state)
{
	costs_the_same(*state, query_judged);
}

static void add_shard(void *arg, const struct find_off_peak_shard *row)
{
	int64_t *sum = arg;
	*sum += 100 * row->shard + row->measured_at;
}

static void query_shards(struct fixture *f, unsigned n)
{
	const struct find_off_peak_suite like = { .suite = f->suite,
		.device_class = fixture_number(f, "SELECT class FROM device"),
		.name = "ffa",
		.target_sha = fixture_sha(n) };
	int64_t sum = 0;
	ok(find_off_peak_shards(f->db, f->repo, "none", &like, add_shard, &sum, &err));
	assert_int_equal(sum, 100 * (1 + 2) + 1 + 2);
}

static void which_shards_an_off_peak_job_measures(void **state)
{
	struct fixture *f = *state;
	fill(f, 2);
	ok(stmt_run(db_stmt(f->db, "UPDATE job SET shard = id / 2, device_class = (SELECT class FROM device) WHERE id IN (2, 4)",
			    &err),
		&err));
	costs_the_same(f, query_shards);
}

/** Nights that each measured shard 1 of another commit. */
static void fill_nights(struct fixture *f, unsigned n)
{
	fill(f, n);
	ok(stmt_run(
		db_stmt(f->db,
			"UPDATE job SET shard = 1, device_class = (SELECT class FROM device) WHERE branch = 'main' AND id > 4",
			&err),
		&err));
}

static void query_newest_night(struct fixture *f, unsigned n)
{
	const struct find_off_peak_suite like = { .suite = f->suite,
		.device_class = fixture_number(f, "SELECT class FROM device"),
		.name = "ffa",
		.target_sha = fixture_sha(n) };
	int64_t sum = 0;
	ok(find_off_peak_shards(f->db, f->repo, "none", &like, add_shard, &sum, &err));
	assert_int_equal(sum, 100 + n);
}

static void which_shards_years_of_off_peak_jobs_measured(void **state)
{
	struct fixture *f = *state;
	fill_nights(f, SOME);
	int64_t few = steps_beside(f, SOME, query_newest_night);
	fill_nights(f, MANY);
	assert_int_equal(steps_beside(f, MANY, query_newest_night), few);
}

static void see_point(void *arg, const struct store_bisect_point *p)
{
	(void)p;
	++*(int *)arg;
}

static int64_t bisect;

static void query_points(struct fixture *f, unsigned n)
{
	struct store_bisect b;
	int points = 0;
	(void)n;
	ok(store_bisect_get(f->db, bisect, &b, &err));
	ok(store_bisect_points(f->db, &b, see_point, &points, &err));
	assert_int_equal(points, 2);
}

static void which_measurements_a_bisect_reuses(void **state)
{
	struct fixture *f = *state;
	struct store_bisect b = { .repo = f->repo, .origin = "api", .suite = "ffa" };
	fill(f, SOME);
	ok(db_begin(f->db, &err));
	snprintf(b.good_sha, sizeof b.good_sha, "%s", fixture_sha(3));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", fixture_sha(5));
	ok(store_bisect_insert(f->db, &b, 1, &err));
	for (unsigned i = 0; i < 3; i++)
		ok(store_bisect_commit(f->db, b.id, (int)i, fixture_sha(3 + i), &err));
	for (int64_t i = 1; i <= 2; i++)
		fixture_cell(f, 2 * (3 + i), 0, "cell", 0.01, VERDICT_UNCHANGED);
	ok(db_commit(f->db, &err));
	bisect = b.id;
	costs_the_same(f, query_points);
}

static void query_import(struct fixture *f, unsigned n)
{
	int64_t comparison = 0;
	(void)n;
	err_clear(&err);
	assert_int_equal(store_job_imported(f->db, f->repo, fixture_sha(1), "figures", &comparison, &err), 1);
	assert_int_equal(comparison, 2);
	assert_int_equal(store_job_imported(f->db, f->repo, fixture_sha(1), "other figures", &comparison, &err), 0);
}

static void whether_figures_were_imported_before(void **state)
{
	struct fixture *f = *state;
	fill(f, 2);
	ok(stmt_run(db_stmt(f->db, "UPDATE job SET kind = 'import', nonce = 'figures' WHERE id = 2", &err), &err));
	costs_the_same(f, query_import);
}

static void query_supersession(struct fixture *f, unsigned n)
{
	int superseded;
	ok(db_begin(f->db, &err));
	ok(store_job_supersede(f->db, 2 * n, 1, &superseded, &err)); /* the newest of main */
	ok(db_commit(f->db, &err));
	assert_int_equal(superseded, 0);
}

static void which_older_jobs_of_its_branch_a_push_supersedes(void **state)
{
	costs_the_same(*state, query_supersession);
}

static void query_report(struct fixture *f, unsigned n)
{
	struct store_base_reported reported;
	ok(store_base_reported(f->db, 2 * n, "cell", &reported, &err));
	assert_string_equal(reported.sha, "");
}

static void whether_a_change_was_reported_before(void **state)
{
	struct fixture *f = *state;
	int64_t few = steps_beside(f, STORE_BASE_COMPARISONS_MAX + SOME, query_report);
	assert_int_equal(steps_beside(f, MANY, query_report), few);
}

/* A loss is found behind more comparisons of another suite than are searched. */
static void a_change_reported_behind_other_suites(void **state)
{
	struct fixture *f = *state;
	struct store_base_reported reported;
	char suite[] = "INSERT INTO suite (id, sha, name, text, origin) VALUES (900, 'other', 'other', '', 'installed')";
	fill(f, 1);
	ok(db_begin(f->db, &err));
	int64_t first = fixture_comparison(f, "topic", 1, 50, VERDICT_REGRESSION, 50);
	fixture_cell(f, first, 0, "cell", -0.05, VERDICT_REGRESSION);
	ok(stmt_run(db_stmt(f->db, suite, &err), &err));
	int64_t own = f->suite;
	f->suite = 900;
	for (unsigned i = 0; i < STORE_BASE_COMPARISONS_MAX + SOME; i++)
		fixture_comparison(f, "topic", 1, 100 + i, VERDICT_UNCHANGED, 100 + i);
	f->suite = own;
	int64_t last = fixture_comparison(f, "topic", 1, 500, VERDICT_REGRESSION, 500);
	ok(db_commit(f->db, &err));
	ok(store_base_reported(f->db, last, "cell", &reported, &err));
	assert_string_equal(reported.sha, fixture_sha(50));
}

static void see_repo(void *arg, const struct view_repo *row)
{
	*(int64_t *)arg += row->open_alerts;
}

static void query_repos(struct fixture *f, unsigned n)
{
	int64_t open = 0;
	(void)n;
	ok(view_repos(f->db, see_repo, &open, &err));
	assert_int_equal(open, 1);
}

/** An alert of each commit of the upstream branch, of which only the first is open. */
static void fill_alerts(struct fixture *f, unsigned n)
{
	struct stmt *s = db_stmt(f->db,
		"INSERT INTO alert (repo, branch, target_sha, state, opened_at, changed_at, cells) SELECT l.repo, 'main', l.sha, "
		"iif(l.position = 1, 'open', 'resolved'), 1, 1, '[]' FROM mainline l WHERE NOT EXISTS (SELECT 1 FROM alert a WHERE "
		"a.target_sha = l.sha)",
		&err);
	fill(f, n);
	ok(stmt_run(s, &err));
}

static void how_many_alerts_of_a_repository_are_open(void **state)
{
	struct fixture *f = *state;
	fill_alerts(f, SOME);
	int64_t few = steps_beside(f, SOME, query_repos);
	fill_alerts(f, MANY);
	assert_int_equal(steps_beside(f, MANY, query_repos), few);
}

static void query_measured_shards(struct fixture *f, unsigned n)
{
	struct view_shard shard;
	(void)n;
	ok(view_shard(f->db, 2, &shard, &err));
	assert_int_equal(shard.shards, 3);
	assert_int_equal(shard.measured, 1);
}

static void how_many_shards_of_a_suite_are_measured(void **state)
{
	struct fixture *f = *state;
	ok(stmt_run(db_stmt(f->db, "UPDATE suite SET shards = 4", &err), &err));
	fill_nights(f, SOME);
	int64_t few = steps_beside(f, SOME, query_measured_shards);
	fill_nights(f, MANY);
	assert_int_equal(steps_beside(f, MANY, query_measured_shards), few);
}

static void query_cover(struct fixture *f, unsigned n)
{
	struct store_job job;
	ok(store_job_get(f->db, 2 * n, &job, &err)); /* the newest of main */
	assert_int_equal(store_job_covers(f->db, &job, "ffa", &err), 0);
}

static void whether_another_job_measures_the_same_commit(void **state)
{
	costs_the_same(*state, query_cover);
}

static void query_reference(struct fixture *f, unsigned n)
{
	const struct store_baseline_period e = { .repo = f->repo, .environment = f->environment, .suite = "ffa" };
	int64_t position;
	ok(find_range_requested(f->db, &e, "rereference", (int64_t)n - 5, &position, &err));
	assert_int_equal(position, n - 2);
}

static void query_reference_request(struct fixture *f, unsigned n)
{
	struct stmt *s = db_stmt(f->db,
		"UPDATE job SET origin = 'rereference', device_class = (SELECT class FROM device) WHERE branch = 'main' AND "
		"target_sha = :sha",
		&err);
	fill(f, n);
	stmt_text(s, ":sha", fixture_sha(n - 2));
	ok(stmt_run(s, &err));
}

static void whether_another_reference_was_requested(void **state)
{
	struct fixture *f = *state;
	query_reference_request(f, SOME);
	int64_t few = steps_beside(f, SOME, query_reference);
	query_reference_request(f, MANY);
	assert_int_equal(steps_beside(f, MANY, query_reference), few);
}

static void see_comparison(void *arg, const struct view_comparison *row)
{
	int64_t *seen = arg;
	*seen = 10 * *seen + row->id;
}

static void query_regressions(struct fixture *f, unsigned n)
{
	(void)n;
	for (int i = 0; i < 3; i++) {
		int64_t seen = 0;
		ok(view_comparisons(f->db,
			&(struct view_filter){
				.repo = i ? "kernels" : NULL, .branch = i > 1 ? "main" : NULL, .has_regressions = true },
			see_comparison, &seen, &err));
		assert_int_equal(seen, 642);
	}
}

static void which_comparisons_lost_rows(void **state)
{
	struct fixture *f = *state;
	fill(f, 4);
	ok(stmt_run(db_stmt(f->db,
			    "UPDATE comparison SET n_regressions = id <> 8, verdict = CASE id WHEN 4 THEN 'rejected' WHEN 2 THEN "
			    "'regression' ELSE 'failed' END WHERE id IN (2, 4, 6, 8)",
			    &err),
		&err));
	costs_the_same(f, query_regressions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_judged_before_an_environment_changed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(which_shards_an_off_peak_job_measures, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(which_shards_years_of_off_peak_jobs_measured, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(which_measurements_a_bisect_reuses, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(whether_another_job_measures_the_same_commit, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(which_older_jobs_of_its_branch_a_push_supersedes, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(whether_a_change_was_reported_before, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_change_reported_behind_other_suites, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(how_many_alerts_of_a_repository_are_open, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(how_many_shards_of_a_suite_are_measured, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(whether_another_reference_was_requested, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(which_comparisons_lost_rows, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(whether_figures_were_imported_before, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
