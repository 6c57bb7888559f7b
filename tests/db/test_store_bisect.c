/* Bisects as rows: which are open, their commits and jobs, and measurements of their commits from any origin. */
#include "failing_statements.h"

#include "fixture_db.h"

#include "db/db.h"

enum { NOW = 10000 };

static int setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	fixture_ground(*state);
	return 0;
}

static int64_t begin(struct fixture *f, const char *cells)
{
	struct store_bisect b = { .repo = f->repo, .origin = "api", .suite = "ffa", .device_kind = DEVICE_SIM };
	snprintf(b.good_sha, sizeof b.good_sha, "%s", fixture_sha(0xa0));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", fixture_sha(0xa3));
	snprintf(b.cells, sizeof b.cells, "%s", cells);
	ok(store_bisect_insert(f->db, &b, NOW, &err));
	return b.id;
}

static void an_open_bisect_is_found_until_it_ends(void **state)
{
	struct fixture *f = *state;
	struct store_bisect b;
	ok(db_begin(f->db, &err));
	int64_t first = begin(f, "*/full/* */causal/*"), second = begin(f, "");
	assert_int_equal(store_bisect_next_open(f->db, 0, &b, &err), 1);
	assert_int_equal(b.id, first);
	assert_string_equal(b.state, "listing");
	assert_string_equal(b.cells, "*/full/* */causal/*");
	assert_string_equal(b.good_sha, fixture_sha(0xa0));
	assert_int_equal(b.device_kind, DEVICE_SIM);
	assert_int_equal(store_bisect_next_open(f->db, first, &b, &err), 1);
	assert_int_equal(b.id, second);
	assert_int_equal(store_bisect_next_open(f->db, second, &b, &err), 0);
	ok(store_bisect_state(f->db, first, "measuring", "", NOW, &err));
	ok(store_bisect_get(f->db, first, &b, &err));
	assert_int_equal(b.ended_at, 0);
	ok(store_bisect_state(f->db, first, "failed", "the good end fails, too", NOW + 5, &err));
	refused(ERR_CONFLICT, store_bisect_state(f->db, first, "cancelled", "", NOW + 6, &err));
	ok(store_bisect_get(f->db, first, &b, &err));
	assert_string_equal(b.state, "failed");
	assert_string_equal(b.state_why, "the good end fails, too");
	assert_int_equal(b.ended_at, NOW + 5);
	assert_int_equal(store_bisect_next_open(f->db, 0, &b, &err), 1);
	assert_int_equal(b.id, second);
	refused(ERR_NOT_FOUND, store_bisect_get(f->db, 99, &b, &err));
	ok(db_commit(f->db, &err));
}

static void the_goal_replaces_the_globs(void **state)
{
	struct fixture *f = *state;
	struct store_bisect b;
	ok(db_begin(f->db, &err));
	int64_t id = begin(f, "*/full/* */causal/*");
	ok(store_bisect_get(f->db, id, &b, &err));
	snprintf(b.goal, sizeof b.goal, "regression");
	snprintf(b.verdict, sizeof b.verdict, "regression");
	snprintf(b.cells, sizeof b.cells, "attention/full/forward");
	ok(store_bisect_goal(f->db, &b, &err));
	ok(store_bisect_culprits(f->db, id, "[{\"n\":2}]", &err));
	ok(store_bisect_get(f->db, id, &b, &err));
	assert_string_equal(b.goal, "regression");
	assert_string_equal(b.cells, "attention/full/forward");
	assert_int_equal(b.comparison, 0);
	assert_null(b.culprits_json);
	ok(db_commit(f->db, &err));
}

static void commits_have_numbers(void **state)
{
	struct fixture *f = *state;
	char sha[65];
	int n = -1;
	ok(db_begin(f->db, &err));
	int64_t id = begin(f, "");
	refused(ERR_NOT_FOUND, store_bisect_last(f->db, id, &n, &err));
	for (int i = 0; i < 4; i++)
		ok(store_bisect_commit(f->db, id, i, fixture_sha(0xa0 + (unsigned)i), &err));
	ok(store_bisect_last(f->db, id, &n, &err));
	assert_int_equal(n, 3);
	ok(store_bisect_sha(f->db, id, 2, sha, &err));
	assert_string_equal(sha, fixture_sha(0xa2));
	refused(ERR_NOT_FOUND, store_bisect_sha(f->db, id, 4, sha, &err));
	ok(db_commit(f->db, &err));
}

static void see_job(void *arg, int base_n, int target_n, const char *cells)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%d..%d(%s) ", base_n, target_n, cells);
}

static void see_point(void *arg, const struct store_bisect_point *p)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%d..%d %s %s, ", p->base_n, p->target_n, p->key,
		verdict_name(p->verdict));
}

/* A measurement of two of its commits counts, whatever requested it; one with another commit or provider does not. */
static void measurements_of_its_commits(void **state)
{
	struct fixture *f = *state;
	struct store_bisect b;
	char points[200] = "", jobs[200] = "";
	ok(db_begin(f->db, &err));
	int64_t id = begin(f, "");
	for (int i = 0; i < 4; i++)
		ok(store_bisect_commit(f->db, id, i, fixture_sha(0xa0 + (unsigned)i), &err));
	int64_t whole = fixture_comparison(f, "main", 0xa0, 0xa3, VERDICT_REGRESSION, NOW);
	fixture_cell(f, whole, 0, "full", 0.05, VERDICT_REGRESSION);
	int64_t half = fixture_comparison(f, "main", 0xa0, 0xa2, VERDICT_UNCHANGED, NOW + 1);
	fixture_cell(f, half, 0, "full", 0.001, VERDICT_UNCHANGED);
	int64_t other = fixture_comparison(f, "main", 0xb0, 0xa2, VERDICT_UNCHANGED, NOW + 2);
	fixture_cell(f, other, 0, "full", 0.001, VERDICT_UNCHANGED);
	int64_t back = fixture_comparison(f, "main", 0xa2, 0xa0, VERDICT_UNCHANGED, NOW + 3);
	fixture_cell(f, back, 0, "full", 0.001, VERDICT_UNCHANGED);
	int64_t job = fixture_number(f, "SELECT max(id) FROM job");
	int64_t provider = fixture_comparison(f, "", 0xa0, 0xa3, VERDICT_UNCHANGED, NOW + 4);
	fixture_cell(f, provider, 0, "full", 0.001, VERDICT_UNCHANGED);
	ok(db_script(f->db, "UPDATE job SET base_provider = 'cudnn', target_provider = 'cudnn' WHERE branch = ''", &err));
	ok(store_bisect_get(f->db, id, &b, &err));
	ok(store_bisect_points(f->db, &b, see_point, points, &err));
	assert_string_equal(points, "0..3 full regression, 0..2 full unchanged, ");
	ok(store_bisect_ended_jobs(f->db, id, see_job, jobs, &err));
	assert_string_equal(jobs, "");
	ok(store_bisect_wait(f->db, id, job, 0, 2, &err));
	ok(store_bisect_get(f->db, id, &b, &err));
	assert_int_equal(b.job, job);
	assert_int_equal(b.n_jobs, 1);
	assert_int_equal(b.commits, 3);
	ok(store_bisect_ended_jobs(f->db, id, see_job, jobs, &err));
	assert_string_equal(jobs, "0..2() ");
	ok(db_commit(f->db, &err));
}

static void expect_branch(struct fixture *f, int64_t id, const char *branch)
{
	struct store_bisect b;
	ok(store_bisect_get(f->db, id, &b, &err));
	assert_string_equal(b.branch, branch);
}

/* The upstream branch before another one that has the bad end, too; that of a push with it where it is not the last commit. */
static void a_bisect_knows_its_branch_and_user(void **state)
{
	struct fixture *f = *state;
	struct store_bisect b = { .repo = f->repo, .origin = "api", .who = "noor" };
	char sha[1][65];
	ok(db_begin(f->db, &err));
	snprintf(b.good_sha, sizeof b.good_sha, "%s", fixture_sha(0xa0));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", fixture_sha(0xa3));
	ok(store_bisect_insert(f->db, &b, NOW, &err));
	ok(store_bisect_get(f->db, b.id, &b, &err));
	assert_string_equal(b.who, "noor");
	assert_string_equal(b.branch, "");
	snprintf(sha[0], sizeof sha[0], "%s", fixture_sha(0xa3));
	fixture_job(f, "later", 0xa0, 0xa4, NOW);
	ok(store_range_put(f->db, f->repo, fixture_sha(0xa0), fixture_sha(0xa4), (const char(*)[65])sha, 1, &err));
	expect_branch(f, b.id, "later");
	fixture_job(f, "topic", 0xa0, 0xa3, NOW);
	expect_branch(f, b.id, "topic");
	ok(db_script(f->db, "INSERT INTO mainline (repo, sha, position) SELECT repo, bad_sha, 1 FROM bisect", &err));
	expect_branch(f, b.id, "main");
	ok(db_script(f->db, "UPDATE mainline SET dropped = 1", &err));
	expect_branch(f, b.id, "topic");
	ok(db_commit(f->db, &err));
}

static void see_commit(void *arg, int n, const char *sha, const char *subject)
{
	char *text = arg;
	size_t at = strlen(text);
	snprintf(text + at, 200 - at, "%d %.3s %s, ", n, sha + 37, subject);
}

static void commits_have_subjects(void **state)
{
	struct fixture *f = *state;
	struct store_commit c = { .subject = "wider tiles" };
	char text[200] = "";
	ok(db_begin(f->db, &err));
	int64_t id = begin(f, "");
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(0xa1));
	ok(store_commit_put(f->db, f->repo, &c, &err));
	for (int i = 1; i >= 0; i--)
		ok(store_bisect_commit(f->db, id, i, fixture_sha(0xa0 + (unsigned)i), &err));
	ok(view_bisect_commits(f->db, id, see_commit, text, &err));
	assert_string_equal(text, "0 0a0 , 1 0a1 wider tiles, ");
	ok(db_commit(f->db, &err));
}

#define BISECT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BISECT_TEST(an_open_bisect_is_found_until_it_ends),
		BISECT_TEST(the_goal_replaces_the_globs),
		BISECT_TEST(commits_have_numbers),
		BISECT_TEST(measurements_of_its_commits),
		BISECT_TEST(a_bisect_knows_its_branch_and_user),
		BISECT_TEST(commits_have_subjects),
	};
	return run_twice(tests);
}
