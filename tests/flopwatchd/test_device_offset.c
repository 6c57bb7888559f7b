/* Classes of devices: the values that they share, outliers, and jobs of an outlier. */
#include "fixture_db.h"

#include <math.h>

#include "db/db.h"
#include "flopwatchd/history/history.h"

enum { DEVICES = 3, CELLS = 3 };

struct class_fixture {
	struct fixture *f;
	int64_t device[DEVICES], class, baseline_period, comparison;
};
static struct class_fixture all;

static int64_t report_hello(struct fixture *f, const char *uuid, const char *driver, int64_t memory_bytes)
{
	struct msg_device d = fixture_device();
	int64_t id;
	snprintf(d.uuid, sizeof d.uuid, "%s", uuid);
	snprintf(d.driver, sizeof d.driver, "%s", driver);
	d.memory_bytes = memory_bytes;
	ok(store_device_put(f->db, &d, 1000, &id, &err));
	return id;
}

static int64_t class_of(struct fixture *f, int64_t device)
{
	struct stmt *s = db_stmt(f->db, "SELECT class FROM device WHERE id = :id", &err);
	int64_t class;
	stmt_int(s, ":id", device);
	assert_int_equal(stmt_first_int(s, &class, &err), 1);
	return class;
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	struct fixture *f = *state;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	all = (struct class_fixture){ .f = f };
	for (int i = 0; i < DEVICES; i++) {
		char uuid[16];
		snprintf(uuid, sizeof uuid, "sim-%d", i);
		all.device[i] = report_hello(f, uuid, "1", 0);
	}
	all.class = class_of(f, all.device[0]);
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1500, .started_at = 1
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	all.baseline_period = e.id;
	all.comparison = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 900);
	ok(db_commit(f->db, &err));
	return 0;
}

/** Every cell of the reference commit took `ln` (a log ratio) longer on this device than usual. */
static void reference_took(int device, double ln)
{
	for (int i = 0; i < CELLS; i++) {
		char key[32];
		snprintf(key, sizeof key, "cell %d", i);
		const struct store_reference_time t = { .device = all.device[device],
			.baseline_period = all.baseline_period,
			.comparison = all.comparison,
			.key = key,
			.ln_ms = i + ln };
		ok(store_reference_time_put(all.f->db, &t, &err));
	}
}

static const char *outlier(int device)
{
	static char why[256];
	struct stmt *s = db_stmt(all.f->db, "SELECT outlier FROM device WHERE id = :id", &err);
	stmt_int(s, ":id", all.device[device]);
	assert_int_equal(stmt_first_text(s, why, sizeof why, &err), 1);
	return why;
}

static void look(void)
{
	ok(device_offset_check(all.f->db, all.class, 2000, &err));
}

static void equal_devices_are_one_class_and_one_environment(void **state)
{
	struct fixture *f = *state;
	struct msg_device other = fixture_device();
	int64_t environment;
	bool is_new;
	char model[STORE_MODEL_SIZE];
	ok(db_begin(f->db, &err));
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	ok(store_environment_put(f->db, &other, "5a17e", "pairs", "none", 1, &environment, &is_new, &err));
	assert_false(is_new);
	assert_int_equal(environment, f->environment);
	int64_t few_pages = report_hello(f, "sim-7", "1", 1 << 20);
	assert_int_equal(class_of(f, few_pages), all.class);
	ok(store_class_model(f->db, all.class, model, &err));
	assert_string_equal(model, "simulated, 4 SMs, 0 GiB");
	other.power_limit_w = 600;
	ok(store_environment_put(f->db, &other, "5a17e", "pairs", "none", 1, &environment, &is_new, &err));
	assert_true(is_new);
	assert_int_not_equal(class_of(f, report_hello(f, "sim-8", "2", 0)), all.class);
	assert_int_not_equal(class_of(f, report_hello(f, "sim-9", "1", INT64_C(80) << 30)), all.class);
	ok(db_commit(f->db, &err));
}

static void a_slow_device_is_an_outlier_until_it_agrees(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	reference_took(0, 0);
	reference_took(1, 0.002);
	reference_took(2, 0.06);
	look();
	assert_string_equal(outlier(0), "");
	assert_string_equal(outlier(1), "");
	assert_string_equal(
		outlier(2), "at held clock its reference commit takes 6.0 % longer than on the other devices of its class");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state'"), 1);
	look(); /* logged once */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state'"), 1);
	reference_took(2, 0.004);
	look();
	assert_string_equal(outlier(2), "");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state'"), 2);
	ok(db_commit(f->db, &err));
}

/** Equal builds on a device; `alarms`: the verdict is a regression. */
static void measured_itself(struct fixture *f, int device, unsigned n, bool alarms)
{
	struct store_comparison c = { .job = fixture_job(f, "", n, n, 1),
		.repo = f->repo,
		.suite = f->suite,
		.environment = f->environment,
		.device = all.device[device],
		.kind = JOBKIND_CALIBRATE,
		.base_how = "given",
		.rule_json = "{}",
		.verdict = VERDICT_UNCHANGED,
		.finished_at = n };
	snprintf(c.target_sha, sizeof c.target_sha, "%s", fixture_sha(n));
	ok(store_comparison_insert(f->db, &c, &err));
	fixture_cell(f, c.id, 0, "cell", alarms ? 0.1 : 0, alarms ? VERDICT_REGRESSION : VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, c.id, alarms ? VERDICT_REGRESSION : VERDICT_UNCHANGED, &err));
}

static void a_device_with_false_alarms_is_an_outlier(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	measured_itself(f, 1, 20, true);
	look();
	assert_string_equal(outlier(1), "");
	measured_itself(f, 1, 21, true);
	look();
	assert_string_equal(outlier(1), "2 of its last 2 comparisons of equal builds called a slowdown");
	measured_itself(f, 1, 22, false);
	measured_itself(f, 1, 23, false);
	look();
	assert_string_equal(outlier(1), "");
	ok(db_commit(f->db, &err));
}

static void an_outlier_gets_only_jobs_that_name_it(void **state)
{
	struct fixture *f = *state;
	struct store_job job;
	ok(db_begin(f->db, &err));
	int64_t any = fixture_job(f, "feature", 3, 4, 500);
	reference_took(0, 0);
	reference_took(1, 0);
	reference_took(2, 0.06);
	look();
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-2", "[]", &job, &err), 0);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-1", "[]", &job, &err), 1);
	assert_int_equal(job.id, any);
	struct store_job named = job;
	snprintf(named.device_uuid, sizeof named.device_uuid, "sim-2");
	ok(store_job_insert(f->db, &named, 600, &err));
	fixture_plan(f, named.id);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-2", "[]", &job, &err), 1);
	assert_int_equal(job.id, named.id);
	/* no other device is left */
	ok(store_device_state(f->db, all.device[0], DEVICESTATE_PAUSED, "", 1, &err));
	ok(store_device_state(f->db, all.device[1], DEVICESTATE_QUARANTINED, "", 1, &err));
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-2", "[]", &job, &err), 1);
	assert_int_equal(job.id, any);
	ok(db_commit(f->db, &err));
}

static void a_single_device_is_no_outlier(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	report_hello(f, "sim-0", "2", 0);
	report_hello(f, "sim-1", "2", 0);
	measured_itself(f, 2, 20, true);
	measured_itself(f, 2, 21, true);
	look();
	assert_string_equal(outlier(2), "");
	ok(db_commit(f->db, &err));
}

static void a_job_for_a_class_goes_to_any_of_it_and_outlives_a_new_driver(void **state)
{
	struct fixture *f = *state;
	struct store_job job, like;
	ok(db_begin(f->db, &err));
	ok(store_job_get(f->db, fixture_job(f, "feature", 3, 4, 500), &like, &err));
	ok(db_script(f->db, "UPDATE job SET state = 'cancelled'", &err));
	like.device_class = all.class;
	ok(store_job_insert(f->db, &like, 600, &err));
	fixture_plan(f, like.id);
	report_hello(f, "sim-9", "2", 0);
	report_hello(f, "sim-8", "1", INT64_C(80) << 30);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-1", "[]", &job, &err), 1);
	assert_int_equal(job.device_class, all.class);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-9", "[]", &job, &err), 0);
	for (int i = 0; i < DEVICES; i++) {
		char uuid[16];
		snprintf(uuid, sizeof uuid, "sim-%d", i);
		report_hello(f, uuid, "2", 0);
	}
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-9", "[]", &job, &err), 1);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-8", "[]", &job, &err), 0); /* another model */
	ok(db_commit(f->db, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_devices_are_one_class_and_one_environment, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_slow_device_is_an_outlier_until_it_agrees, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_device_with_false_alarms_is_an_outlier, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_outlier_gets_only_jobs_that_name_it, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_single_device_is_no_outlier, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_job_for_a_class_goes_to_any_of_it_and_outlives_a_new_driver, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
