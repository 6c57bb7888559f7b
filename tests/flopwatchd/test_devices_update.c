/* A worker lists its devices: a missing one is absent, jobs that only it could run are cancelled, and it may come back. */
#include "fixture_db.h"

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "flopwatchd/internal.h"
#include "flopwatchd/plan/plan.h"

enum { DAY_MS = 24 * 3600 * 1000 };

static struct config *config;
static struct txn txn;
static struct msg_hello *hello;

static int setup(void **state)
{
	config = calloc(1, sizeof *config);
	hello = calloc(1, sizeof *hello);
	if (!config || !hello || fixture_setup(state) != 0)
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	struct store_baseline_period e = { .repo = f->repo, .environment = f->environment, .suite = "ffa", .started_at = 1 };
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(db_begin(f->db, &err));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(7), true, 1000, &err));
	ok(db_commit(f->db, &err));
	config->calibrate_idle = true;
	config->calibrate_every_ms = 60000;
	config->offline_after_ms = 60000;
	config->n_repos = config->n_workers = 1;
	snprintf(config->repo[0].name, sizeof config->repo[0].name, "kernels");
	snprintf(config->repo[0].upstream, sizeof config->repo[0].upstream, "main");
	snprintf(config->worker[0].name, sizeof config->worker[0].name, "gpu");
	snprintf(hello->location.host, sizeof hello->location.host, "here");
	txn = (struct txn){ .db = f->db, .config = config };
	return 0;
}

static int teardown(void **state)
{
	free(hello);
	config_free(config);
	return fixture_teardown(state);
}

/* The worker names devices sim-N, N as in `which`, "0 2". */
static void says(const char *which, int64_t now_ms)
{
	int n;
	hello->n_devices = 0;
	for (const char *at = which; *at; at += *at == ' ') {
		struct msg_device *d = &hello->device[hello->n_devices++];
		*d = fixture_device();
		d->index = (int)strtol(at, (char **)&at, 10);
		snprintf(d->uuid, sizeof d->uuid, "sim-%d", d->index);
	}
	ok(devices_update(&txn, &config->worker[0], hello, now_ms, &n, &err));
}

static const char *states(struct fixture *f)
{
	static char found[512];
	struct stmt *s = db_stmt(f->db, "SELECT group_concat(state, ' ') FROM (SELECT state FROM device ORDER BY uuid)", &err);
	assert_non_null(s);
	assert_int_equal(stmt_first_text(s, found, sizeof found, &err), 1);
	return found;
}

static int64_t id_of(struct fixture *f, const char *uuid)
{
	int64_t id;
	enum devicestate state;
	ok(store_device_get(f->db, uuid, &id, &state, &err));
	return id;
}

static void a_device_that_its_worker_does_not_list_is_absent(void **state)
{
	struct fixture *f = *state;
	says("0 1 2", 1000);
	assert_string_equal(states(f), "ok ok ok");
	says("0 2", 2000);
	assert_string_equal(states(f), "ok absent ok");
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM device WHERE state_why = 'worker gpu no longer has the device'"), 1);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state' AND payload ->> 'state' = 'absent'"),
		1);
	says("0 2", 3000); /* and is logged once */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state'"), 1);
	says("0 1 2", 4000);
	assert_string_equal(states(f), "ok ok ok");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'device.state'"), 2);
}

static void a_worker_reports_no_devices_of_another_host(void **state)
{
	struct fixture *f = *state;
	says("0 1", 1000);
	says("", 2000);
	assert_string_equal(states(f), "ok ok");
	snprintf(hello->location.host, sizeof hello->location.host, "there");
	says("2", 3000);
	assert_string_equal(states(f), "ok ok ok");
}

static void states_set_by_users_are_preserved(void **state)
{
	struct fixture *f = *state;
	says("0 1 2", 1000);
	ok(store_device_state(f->db, id_of(f, "sim-1"), DEVICESTATE_PAUSED, "by anna", 1500, &err));
	ok(store_device_state(f->db, id_of(f, "sim-2"), DEVICESTATE_QUARANTINED, "broken", 1500, &err));
	says("0", 2000);
	assert_string_equal(states(f), "ok paused quarantined");
	says("0 1 2", 3000);
	assert_string_equal(states(f), "ok paused quarantined");
}

static void devices_outside_the_configuration_are_ignored(void **state)
{
	struct fixture *f = *state;
	says("0 1", 1000);
	config->worker[0].n_devices = 1;
	snprintf(config->worker[0].devices[0], sizeof config->worker[0].devices[0], "1");
	says("0 1 2", 2000);
	assert_string_equal(states(f), "absent ok");
}

static void devices_outside_an_allocation_are_not_absent(void **state)
{
	struct fixture *f = *state;
	config->worker[0].kind = WORKER_SLURM;
	says("0", 1000);
	says("1", 2000);
	assert_string_equal(states(f), "ok ok");
	says("1", 1000 + 29 * (int64_t)DAY_MS);
	assert_string_equal(states(f), "ok ok");
	says("1", 2000 + 30 * (int64_t)DAY_MS);
	assert_string_equal(states(f), "absent ok");
	says("0", 3000 + 30 * (int64_t)DAY_MS);
	assert_string_equal(states(f), "ok ok");
}

static void unconfigured_workers_have_no_devices(void **state)
{
	struct fixture *f = *state;
	says("0 1", 1000);
	ok(devices_mark_unconfigured(&txn, 2000, &err));
	assert_string_equal(states(f), "ok ok");
	snprintf(config->worker[0].name, sizeof config->worker[0].name, "other");
	ok(devices_mark_unconfigured(&txn, 3000, &err));
	assert_string_equal(states(f), "absent absent");
}

static int64_t pinned(struct fixture *f, const char *uuid, const char *origin)
{
	int64_t id = fixture_job(f, "main", 1, 2, 1500);
	struct stmt *s = db_stmt(f->db, "UPDATE job SET device_uuid = :uuid, origin = :origin WHERE id = :id", &err);
	stmt_text(s, ":uuid", uuid);
	stmt_text(s, ":origin", origin);
	stmt_int(s, ":id", id);
	ok(stmt_run(s, &err));
	return id;
}

static void calibrations_of_an_absent_device_end(void **state)
{
	struct fixture *f = *state;
	says("0 1", 1000);
	assert_int_equal(idle_step(config, &txn, 2000, &err), 4); /* for each device its reference commit and a calibration */
	ok(db_begin(f->db, &err));
	pinned(f, "sim-1", "api");
	ok(db_commit(f->db, &err));
	says("0", 3000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state = 'cancelled' AND device_uuid = 'sim-1' AND "
					   "state_why = 'device sim-1 is absent'"),
		2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state = 'queued' AND device_uuid = 'sim-1'"), 1);
	ok(db_begin(f->db, &err));
	ok(db_script(f->db, "UPDATE job SET state = 'done'", &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(idle_step(config, &txn, 2000 + 60000, &err), 1); /* alone: there is no device to compare it with */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state = 'queued' AND device_uuid = 'sim-0'"), 1);
}

/* The remaining device was an outlier of a class of two. */
static void the_last_of_a_class_gets_its_jobs(void **state)
{
	struct fixture *f = *state;
	struct store_job job;
	says("0 1", 1000);
	ok(db_begin(f->db, &err));
	ok(store_class_set_deviation(f->db, id_of(f, "sim-0"), "slow", &err));
	fixture_job(f, "feature", 1, 2, 1500);
	ok(db_commit(f->db, &err));
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-0", "[]", &job, &err), 0);
	says("0", 2000);
	assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-0", "[]", &job, &err), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM device WHERE outlier <> ''"), 0);
}

static void jobs_that_wait_for_an_absent_device_are_reported(void **state)
{
	struct fixture *f = *state;
	int changed;
	says("0 1", 1000);
	says("0", 2000);
	ok(db_begin(f->db, &err));
	fixture_job(f, "main", 1, 2, 2000); /* sim-0 may have it */
	ok(store_device_state(f->db, f->device, DEVICESTATE_OK, "", 2000, &err));
	ok(db_script(f->db, "UPDATE device SET seen_at = 900000 WHERE uuid = 'sim-0'", &err));
	ok(device_alert_check(f->db, config, 0, 900000, &changed, &err));
	assert_int_equal(changed, 0);
	int64_t job = pinned(f, "sim-1", "api");
	ok(device_alert_check(f->db, config, 0, 900000, &changed, &err));
	assert_int_equal(changed, 1);
	ok(device_alert_check(f->db, config, 0, 910000, &changed, &err));
	assert_int_equal(changed, 0);
	ok(store_job_state(f->db, job, JOBSTATE_CANCELLED, "by anna", 915000, &err));
	ok(device_alert_check(f->db, config, 0, 920000, &changed, &err));
	assert_int_equal(changed, 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'device_offline' AND state = 'resolved'"), 1);
	ok(db_commit(f->db, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_device_that_its_worker_does_not_list_is_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(a_worker_reports_no_devices_of_another_host, setup, teardown),
		cmocka_unit_test_setup_teardown(states_set_by_users_are_preserved, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_outside_the_configuration_are_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_outside_an_allocation_are_not_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(unconfigured_workers_have_no_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(calibrations_of_an_absent_device_end, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_of_a_class_gets_its_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_that_wait_for_an_absent_device_are_reported, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
