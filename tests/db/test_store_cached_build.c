/* Separate builds: jobs that wait for a build, jobs that wait only for a device, and the assumed contents of a worker's cache. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include "db/db.h"

static const char one[1][STORE_SOURCE_SIZE] = { "base" };
static const char two[2][STORE_SOURCE_SIZE] = { "base", "target" };

static int64_t job(struct fixture *f, const char *branch)
{
	struct store_job j = {
		.repo = f->repo, .kind = JOBKIND_COMPARE, .suite = "ffa", .origin = "push", .base_how = "merge-base"
	};
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(0xb0));
	snprintf(j.base_sha, sizeof j.base_sha, "%s", fixture_sha(0xa0));
	ok(store_job_insert(f->db, &j, 1000, &err));
	fixture_plan(f, j.id);
	return j.id;
}

/** The first job of these; 0 if none. */
static int64_t first(struct fixture *f, const char *worker, enum store_cached_build_which which)
{
	struct store_job_position position;
	int n;
	const struct store_cached_build_request request = { DEVICE_CPU, worker, "[]", "[]", which, 0 };
	ok(store_job_positions(f->db, &request, 1, &position, &n, &err));
	return n ? position.id : 0;
}

static int64_t to_measure(struct fixture *f, const char *worker)
{
	struct store_job j;
	int got = store_job_next_cached(f->db, DEVICE_CPU, "", "[]", worker, &j, &err);
	assert_true(got >= 0);
	return got ? j.id : 0;
}

static void a_job_waits_for_its_builds_and_then_for_a_device(void **state)
{
	struct fixture *f = *state;
	int64_t id = job(f, "a");
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_ANY), id);
	ok(store_cached_build_plan(f->db, id, two, 2, &err));
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_MISSING), id);
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_THERE), 0);
	assert_int_equal(to_measure(f, "w"), 0);
	assert_int_equal(to_measure(f, ""), id); /* of a worker that builds on the measuring machine */

	ok(store_cached_build_put(f->db, "w", "base", "gcc 12", 1, &err));
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_MISSING), id);
	ok(store_cached_build_put(f->db, "w", "target", "gcc 12", 2, &err));
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_MISSING), 0);
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_THERE), id);
	assert_int_equal(to_measure(f, "w"), id);
	assert_int_equal(first(f, "other", STORE_CACHED_BUILD_MISSING), id); /* another cache */

	ok(store_job_state(f->db, id, JOBSTATE_CANCELLED, "", 3, &err));
	int64_t rows = -1;
	assert_int_equal(stmt_first_int(db_stmt(f->db, "SELECT count(*) FROM job_source", &err), &rows, &err), 1);
	assert_int_equal(rows, 0); /* no job needs it any more */
}

static void jobs_without_builds_wait_for_none(void **state)
{
	struct fixture *f = *state;
	int64_t id = job(f, "a");
	ok(store_cached_build_plan(f->db, id, NULL, 0, &err)); /* the user's own programs */
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_THERE), id);
}

static void builds_of_other_workers_are_skipped(void **state)
{
	struct fixture *f = *state;
	int64_t first_id = job(f, "a"), second = job(f, "b");
	struct store_job_position position[3];
	char besides[40];
	int n;
	ok(store_cached_build_plan(f->db, first_id, two, 2, &err));
	ok(store_cached_build_plan(f->db, second, two, 2, &err));
	struct store_cached_build_request request = { DEVICE_CPU, "w", "[]", "[]", STORE_CACHED_BUILD_MISSING, 0 };
	ok(store_job_positions(f->db, &request, 3, position, &n, &err));
	assert_int_equal(n, 2);
	int64_t last = position[1].id, head = last == second ? first_id : second;
	assert_int_equal(position[0].id, head);
	ok(store_job_positions(f->db, &request, 1, position, &n, &err));
	assert_int_equal(n, 1);
	snprintf(besides, sizeof besides, "[0,%lld]", (long long)head);
	request.besides = besides;
	ok(store_job_positions(f->db, &request, 3, position, &n, &err));
	assert_int_equal(n, 1);
	assert_int_equal(position[0].id, last);
}

/* The worker receives the node that its allocation needs, and the job's priority. */
static void a_job_names_the_workers_that_may_run_it(void **state)
{
	struct fixture *f = *state;
	int64_t pinned = job(f, "a"), any = job(f, "b");
	struct store_job_position position[2];
	int n;
	ok(store_device_through(f->db, f->device, "w", "node7", true, &err));
	ok(stmt_run(
		db_stmt(f->db, "UPDATE job SET device_uuid = (SELECT uuid FROM device), priority = 3 WHERE branch = 'a'", &err),
		&err));
	const struct store_cached_build_request request = { DEVICE_CPU, "w", "[]", "[]", STORE_CACHED_BUILD_ANY, 0 };
	ok(store_job_positions(f->db, &request, 2, position, &n, &err));
	assert_int_equal(n, 2);
	assert_int_equal(position[0].id, pinned);
	assert_int_equal(position[0].priority, 3);
	assert_string_equal(position[0].host, "node7");
	assert_int_equal(position[1].id, any);
	assert_string_equal(position[1].host, "");
}

static void a_cached_build_is_deleted(void **state)
{
	struct fixture *f = *state;
	char made_by[STORE_MADE_BY_SIZE];
	int64_t id = job(f, "a");
	ok(store_cached_build_plan(f->db, id, one, 1, &err));
	ok(store_cached_build_put(f->db, "w", "base", "gcc 12", 1, &err));
	ok(store_cached_build_put(f->db, "w", "else", "gcc 13", 1, &err));
	assert_int_equal(store_cached_build_get(f->db, "w", "base", made_by, &err), 1);
	assert_string_equal(made_by, "gcc 12");
	ok(store_cached_build_only(f->db, "w", "gcc 13", &err));
	assert_int_equal(store_cached_build_get(f->db, "w", "base", made_by, &err), 0);
	assert_int_equal(first(f, "w", STORE_CACHED_BUILD_MISSING), id);
	ok(store_cached_build_put(f->db, "w", "base", "gcc 13", 1, &err));
	ok(store_cached_build_forget(f->db, "w", "base", &err));
	assert_int_equal(store_cached_build_get(f->db, "w", "base", made_by, &err), 0);
	assert_int_equal(store_cached_build_get(f->db, "w", "else", made_by, &err), 1);
	ok(store_cached_build_forget(f->db, "w", "", &err));
	assert_int_equal(store_cached_build_get(f->db, "w", "else", made_by, &err), 0);
	for (int i = 0; i < 200; i++) { /* a cache does not store more either */
		char source[STORE_SOURCE_SIZE];
		snprintf(source, sizeof source, "s%d", i);
		ok(store_cached_build_put(f->db, "w", source, "gcc 13", i, &err));
	}
	assert_int_equal(store_cached_build_get(f->db, "w", "s49", made_by, &err), 0);
	assert_int_equal(store_cached_build_get(f->db, "w", "s50", made_by, &err), 1);
}

static void a_build_leaves_the_job_order_unchanged(void **state)
{
	struct fixture *f = *state;
	int64_t id = job(f, "a"), jobs_started = -1;
	struct store_job j;
	ok(store_cached_build_send(f->db, id, "nonce", 5, &err));
	ok(store_job_get(f->db, id, &j, &err));
	assert_int_equal(j.state, JOBSTATE_ASSIGNED);
	assert_int_equal(j.device, 0);
	assert_int_equal(j.attempt, 1);
	assert_int_equal(stmt_first_int(db_stmt(f->db, "SELECT sum(jobs_started) FROM repo", &err), &jobs_started, &err), 1);
	assert_int_equal(jobs_started, 0);
	assert_int_equal(store_cached_build_send(f->db, id, "nonce", 6, &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	err_clear(&err);
	ok(store_job_release(f->db, id, "built", &err));
	ok(store_job_get(f->db, id, &j, &err));
	assert_int_equal(j.attempt, 0); /* a build is not counted as an attempt to measure */
	assert_int_equal(j.started_at, 0);
}

#define KEPT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_TEST(a_job_waits_for_its_builds_and_then_for_a_device),
		KEPT_TEST(jobs_without_builds_wait_for_none),
		KEPT_TEST(builds_of_other_workers_are_skipped),
		KEPT_TEST(a_job_names_the_workers_that_may_run_it),
		KEPT_TEST(a_cached_build_is_deleted),
		KEPT_TEST(a_build_leaves_the_job_order_unchanged),
	};
	return run_twice(tests);
}
