/* Single rows that the daemon reads and writes beside a comparison: priorities, classes, steps of devices, what is gone. */
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

/* Only a queued push without a priority is raised: a user's job keeps its place. */
static void a_push_is_raised_once(void **state)
{
	struct fixture *f = *state;
	bool is_plain;
	ok(db_begin(f->db, &err));
	int64_t job = fixture_job(f, "main", 0xa0, 0xa1, NOW);
	int64_t other = fixture_job(f, "main", 0xa0, 0xa2, NOW);
	ok(store_job_is_plain(f->db, f->repo, fixture_sha(0xa1), &is_plain, &err));
	assert_true(is_plain);
	ok(store_job_raise(f->db, f->repo, fixture_sha(0xa1), 7, &err));
	ok(store_job_is_plain(f->db, f->repo, fixture_sha(0xa1), &is_plain, &err));
	assert_false(is_plain);
	struct store_job row;
	ok(store_job_get(f->db, job, &row, &err));
	assert_int_equal(row.priority, 7);
	ok(store_job_get(f->db, other, &row, &err));
	assert_int_equal(row.priority, 0);
	ok(store_job_nonce(f->db, job, "n1", &err));
	ok(store_job_get(f->db, job, &row, &err));
	assert_string_equal(row.nonce, "n1");
	ok(db_commit(f->db, &err));
}

static void devices_of_a_class(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_class_has_other(f->db, f->device, &err), 0);
	assert_int_equal(store_class_same(f->db, f->device, f->device, &err), 1);
	assert_int_equal(store_class_same(f->db, f->device, f->device + 1, &err), 0);
	ok(store_class_set_deviation(f->db, f->device, "2 % slower than the others", &err));
	assert_int_equal(store_class_same(f->db, f->device, f->device, &err), 0);
}

static void see_step(void *arg, const char *device_uuid, const char *step, double seconds)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%s %s %g, ", device_uuid, step, seconds);
}

static void steps_of_a_device_add_up(void **state)
{
	struct fixture *f = *state;
	char text[200] = "", want[200];
	ok(store_device_step_add(f->db, f->device, (enum device_step)0, 1.5, &err));
	ok(store_device_step_add(f->db, f->device, (enum device_step)0, 2, &err));
	ok(store_device_step_each(f->db, see_step, text, &err));
	snprintf(want, sizeof want, "sim-0 %s 3.5, ", device_step_names[0]);
	assert_string_equal(text, want);
}

static void numbers_of_a_configuration(void **state)
{
	(void)state;
	assert_int_equal(used_config_number("BLOCK_M=128 STAGES=2", "STAGES"), 2);
	assert_int_equal(used_config_number("NUM_STAGES=4 STAGES=2", "STAGES"), 2);
	assert_int_equal(used_config_number("NUM_STAGES=4", "STAGES"), 0);
	assert_int_equal(used_config_number("STAGES_MAX=4", "STAGES"), 0);
	assert_int_equal(used_config_number("STAGES=-1", "STAGES"), 0);
	assert_int_equal(used_config_number("STAGES=1000000", "STAGES"), 0);
	assert_int_equal(used_config_number("", "STAGES"), 0);
}

static void files_that_a_push_changes(void **state)
{
	struct fixture *f = *state;
	struct buf text;
	buf_init(&text, 1000);
	assert_int_equal(store_changed_files_known(f->db, f->repo, fixture_sha(1), fixture_sha(2), &err), 0);
	ok(store_changed_files_put(f->db, f->repo, fixture_sha(1), fixture_sha(2), "[\"a.cu\"]", 1, &err));
	ok(store_changed_files_put(f->db, f->repo, fixture_sha(1), fixture_sha(2), "[\"b.cu\"]", 1, &err)); /* known already */
	assert_int_equal(store_changed_files_known(f->db, f->repo, fixture_sha(1), fixture_sha(2), &err), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM changed_files WHERE paths = '[\"a.cu\"]'"), 1);
	buf_fini(&text);
}

static void see_gone(void *arg, const char *key, int64_t comparison)
{
	char *text = arg;
	snprintf(text + strlen(text), 200 - strlen(text), "%s of %lld, ", key, (long long)comparison);
}

/* The cells of a suite that a job does not plan any more, and the alerts that it answers. */
static void cells_missing_from_the_plan_of_a_job_are_found(void **state)
{
	struct fixture *f = *state;
	struct store_job job;
	int64_t ids[FIND_MISSING_MAX];
	char text[200] = "", want[200];
	int n = -1;
	ok(db_begin(f->db, &err));
	int64_t before = fixture_comparison(f, "main", 0xa0, 0xa1, VERDICT_UNCHANGED, NOW);
	fixture_cell(f, before, 0, "full", 0.001, VERDICT_UNCHANGED);
	fixture_cell(f, before, 1, "gone already", 0.001, VERDICT_REMOVED);
	ok(store_job_get(f->db, fixture_job(f, "main", 0xa1, 0xa2, NOW + 1), &job, &err));
	ok(find_missing_of_suite(f->db, &job, "ffa", see_gone, text, &err));
	snprintf(want, sizeof want, "full of %lld, ", (long long)before);
	assert_string_equal(text, want);
	text[0] = '\0';
	ok(find_missing_of_suite(f->db, &job, "other", see_gone, text, &err));
	assert_string_equal(text, "");
	assert_int_equal(find_missing_is_reported(f->db, &job, &err), 0);
	ok(find_missing_no_plan_alerts(f->db, &job, ids, &n, &err));
	assert_int_equal(n, 0);
	ok(find_missing_suite_alerts(f->db, &job, "[\"ffa\"]", ids, &n, &err));
	assert_int_equal(n, 0);
	ok(db_commit(f->db, &err));
}

#define ROW_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(a_push_is_raised_once),
		ROW_TEST(devices_of_a_class),
		ROW_TEST(steps_of_a_device_add_up),
		cmocka_unit_test(numbers_of_a_configuration),
		ROW_TEST(files_that_a_push_changes),
		ROW_TEST(cells_missing_from_the_plan_of_a_job_are_found),
	};
	return run_twice(tests);
}
