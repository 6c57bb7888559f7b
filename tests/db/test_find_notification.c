/* What a notification of a comparison says, from the rows: other jobs that ended with it, its cells, the suites of its commit. */
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

static void jobs_that_ended_without_a_verdict(void **state)
{
	struct fixture *f = *state;
	struct find_notification_job out[4];
	int n;
	ok(db_begin(f->db, &err));
	int64_t done = fixture_job(f, "main", 0xa0, 0xa1, NOW);
	int64_t failed = fixture_job(f, "team/x", 0xa0, 0xa2, NOW);
	int64_t later = fixture_job(f, "team/y", 0xa0, 0xa3, NOW);
	ok(store_job_done(f->db, done, NOW + 5, &err));
	ok(store_job_state(f->db, failed, JOBSTATE_FAILED, "make: exit 2", NOW + 5, &err));
	ok(store_job_state(f->db, later, JOBSTATE_FAILED, "make: exit 2", NOW + 6, &err));
	ok(find_notification_ended(f->db, NOW + 5, "", out, 4, &n, &err));
	assert_int_equal(n, 1); /* not the one with a verdict, nor that of another transaction */
	assert_int_equal(out[0].id, failed);
	assert_int_equal(out[0].state, JOBSTATE_FAILED);
	assert_string_equal(out[0].why, "make: exit 2");
	assert_string_equal(out[0].sha, fixture_sha(0xa2));
	ok(find_notification_ended(f->db, NOW + 5, "kernels", out, 4, &n, &err));
	assert_int_equal(n, 1);
	ok(find_notification_ended(f->db, NOW + 5, "other", out, 4, &n, &err));
	assert_int_equal(n, 0);
	ok(db_commit(f->db, &err));
}

static void see_cell(void *arg, const struct store_cell *row)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%s ", row->key);
}

static void see_change(void *arg, const char *key, double change_pct)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%s %c ", key, change_pct < 0 ? '-' : '+');
}

static void cells_with_one_verdict(void **state)
{
	struct fixture *f = *state;
	struct find_notification_cells out;
	char keys[200] = "", changes[200] = "";
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 0xa0, 0xa1, VERDICT_REGRESSION, NOW);
	fixture_cell(f, id, 0, "same", 0.001, VERDICT_UNCHANGED);
	fixture_cell(f, id, 1, "lost", 0.03, VERDICT_REGRESSION);
	fixture_cell(f, id, 2, "lost more", 0.08, VERDICT_REGRESSION);
	fixture_cell(f, id, 3, "gained", -0.02, VERDICT_IMPROVEMENT);
	fixture_cell(f, id, 4, "gained more", -0.09, VERDICT_IMPROVEMENT);
	assert_int_equal(find_notification_cells(f->db, id, VERDICT_REGRESSION, &out, &err), 1);
	assert_int_equal(out.all, 5);
	assert_int_equal(out.n, 2);
	assert_string_equal(out.key, "lost more"); /* the worst */
	assert_true(out.decided_pct < 0);
	assert_int_equal(find_notification_cells(f->db, id, VERDICT_IMPROVEMENT, &out, &err), 1);
	assert_string_equal(out.key, "gained more"); /* the best */
	assert_int_equal(find_notification_cells(f->db, id, VERDICT_FAILED, &out, &err), 0);
	assert_true(find_notification_each(f->db, id, 3, see_cell, keys, &err) >= 0);
	assert_string_equal(keys, "lost lost more gained ");
	ok(view_cell_changes(f->db, id, see_change, changes, &err));
	assert_non_null(strstr(changes, "lost more - "));
	assert_non_null(strstr(changes, "gained more + "));
	ok(db_commit(f->db, &err));
}

static void newest_comparisons_of_a_commit(void **state)
{
	struct fixture *f = *state;
	struct find_notification_suite out[2];
	int n;
	ok(db_begin(f->db, &err));
	fixture_comparison(f, "main", 0xa0, 0xa1, VERDICT_REGRESSION, NOW);
	int64_t again = fixture_comparison(f, "main", 0xa0, 0xa1, VERDICT_UNCHANGED, NOW + 1);
	fixture_comparison(f, "main", 0xa0, 0xa2, VERDICT_FAILED, NOW + 2);
	ok(find_notification_suites(f->db, f->repo, fixture_sha(0xa1), out, 2, &n, &err));
	assert_int_equal(n, 1);
	assert_int_equal(out[0].comparison, again);
	assert_int_equal(out[0].verdict, VERDICT_UNCHANGED);
	assert_int_equal(out[0].kind, JOBKIND_COMPARE);
	assert_string_equal(out[0].suite, "ffa");
	assert_string_equal(out[0].base_sha, fixture_sha(0xa0));
	ok(db_commit(f->db, &err));
}

static void a_check_ends_in_its_time(void **state)
{
	struct fixture *f = *state;
	ok(db_check_within(f->db, 600000, &err));
	ok(db_check(f->db, &err));
}

#define NOTIFICATION_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NOTIFICATION_TEST(jobs_that_ended_without_a_verdict),
		NOTIFICATION_TEST(cells_with_one_verdict),
		NOTIFICATION_TEST(newest_comparisons_of_a_commit),
		NOTIFICATION_TEST(a_check_ends_in_its_time),
	};
	return run_twice(tests);
}
