/*
 * A device without a heartbeat while jobs wait for it: one alert, until it reconnects; and devices that are offline on purpose.
 */
#include "fixture_db.h"

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "flopwatchd/config/config.h"

enum { LIMIT_MS = 60000 };

static struct config *config;

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	config->offline_after_ms = LIMIT_MS;
	config->n_webhooks = 1;
	snprintf(config->webhook[0].name, sizeof config->webhook[0].name, "chat");
	ok(db_begin(f->db, &err));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	free(config);
	return fixture_teardown(state);
}

static void run_sql(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
}

static int look_since(struct fixture *f, int64_t awake_ms, int64_t now_ms)
{
	int changed;
	ok(device_alert_check(f->db, config, awake_ms, now_ms, &changed, &err));
	return changed;
}

static int look(struct fixture *f, int64_t now_ms)
{
	return look_since(f, 0, now_ms);
}

static void hello(struct fixture *f, int64_t now_ms)
{
	struct msg_device d = fixture_device();
	int64_t id;
	ok(store_device_put(f->db, &d, now_ms, &id, &err));
}

static void reported_once_until_it_is_received(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	assert_int_equal(look(f, 1000 + 2 * LIMIT_MS), 0); /* no job waits for it */
	fixture_job(f, "main", 1, 2, 2 * LIMIT_MS);
	assert_int_equal(look(f, 2 * LIMIT_MS + 5000), 0); /* a job waits, but not long enough */
	assert_int_equal(look(f, 4 * LIMIT_MS), 1);
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	assert_int_equal(
		fixture_number(f,
			"SELECT count(*) FROM alert WHERE kind = 'device_offline' AND state = 'open' AND repo IS NULL AND "
			"title = 'device sim-0 sent nothing for 239 s while 1 job waits'"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'device' = 'sim-0'"), 1);
	hello(f, 5 * LIMIT_MS + 1);
	assert_int_equal(look(f, 5 * LIMIT_MS + 2), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'resolved'"), 1);
	assert_int_equal(look(f, 7 * LIMIT_MS), 1); /* offline again: another alert */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 2);
}

static void not_silent_while_the_daemon_was_off(void **state)
{
	struct fixture *f = *state;
	int64_t started_ms = 60 * LIMIT_MS;
	hello(f, 1000);
	fixture_job(f, "main", 1, 2, 2000);
	assert_int_equal(look_since(f, started_ms, started_ms + 5000), 0);
	assert_int_equal(look_since(f, started_ms, started_ms + LIMIT_MS - 1), 0);
	assert_int_equal(look_since(f, started_ms, started_ms + LIMIT_MS), 1);
}

static void silent_on_purpose(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	int64_t job = fixture_job(f, "main", 1, 2, 1000);
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, "by anna", 1, &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	ok(store_device_state(f->db, f->device, DEVICESTATE_OK, "", 1, &err));
	ok(store_job_send(f->db, job, f->device, "n", 2000, &err)); /* a long job: it is busy */
	fixture_job(f, "main", 2, 3, 2000);
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	ok(store_job_state(f->db, job, JOBSTATE_FAILED, "x", 3000, &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 1);
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, "by anna", 1, &err));
	assert_int_equal(look(f, 6 * LIMIT_MS), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'resolved'"), 1);
}

static int quarantined_alerts(struct fixture *f, const char *state)
{
	char sql[160];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM alert WHERE kind = 'quarantined' AND state = '%s'", state);
	return (int)fixture_number(f, sql);
}

static void quarantined_while_jobs_wait(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	ok(store_device_state(f->db, f->device, DEVICESTATE_QUARANTINED, "fails its health check", 1500, &err));
	assert_int_equal(look(f, 2000), 0); /* no job waits for it */
	int64_t job = fixture_job(f, "main", 1, 2, 2000);
	assert_int_equal(look(f, 2100), 1); /* at once: no other device can run it */
	assert_int_equal(look(f, 2200), 0);
	assert_int_equal(
		fixture_number(f, "SELECT title = 'device sim-0 is quarantined: fails its health check; 1 job waits' FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'event' = 'alert.opened'"), 1);
	ok(store_job_state(f->db, job, JOBSTATE_CANCELLED, "by anna", 2300, &err));
	assert_int_equal(look(f, 2400), 1);
	assert_int_equal(quarantined_alerts(f, "resolved"), 1);
	fixture_job(f, "main", 2, 3, 2500);
	assert_int_equal(look(f, 2600), 1); /* a job waits again */
	ok(store_device_state(f->db, f->device, DEVICESTATE_OK, "", 2700, &err));
	assert_int_equal(look(f, 2800), 1);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert_event WHERE state = 'resolved' AND reason = 'the device is back'"),
		1);
	assert_int_equal(quarantined_alerts(f, "open"), 0);
}

static void an_answered_quarantine_is_reported_again_when_it_is_new(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	fixture_job(f, "main", 1, 2, 1000);
	ok(store_device_state(f->db, f->device, DEVICESTATE_QUARANTINED, "fails its health check", 1500, &err));
	assert_int_equal(look(f, 2000), 1);
	ok(store_alert_change(f->db, fixture_number(f, "SELECT max(id) FROM alert"), ALERTSTATE_RESOLVED, "anna",
		"ordered another", 2100, &err));
	assert_int_equal(look(f, 2200), 0);
	ok(store_device_state(f->db, f->device, DEVICESTATE_QUARANTINED, "its memory is broken", 2300, &err));
	assert_int_equal(look(f, 2400), 1);
}

static void another_device_takes_the_jobs(void **state)
{
	struct fixture *f = *state;
	struct msg_device other = fixture_device();
	int64_t id;
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	hello(f, 1000);
	ok(store_device_put(f->db, &other, 1000, &id, &err));
	ok(store_device_state(f->db, f->device, DEVICESTATE_QUARANTINED, "fails its health check", 1500, &err));
	fixture_job(f, "main", 1, 2, 2000);
	assert_int_equal(look(f, 2100), 0);
	ok(store_device_put(f->db, &other, 2 * LIMIT_MS, &id, &err));
	assert_int_equal(look(f, 2 * LIMIT_MS + 2500), 1); /* but not long enough */
	assert_int_equal(quarantined_alerts(f, "open"), 1);
}

static void jobs_of_another_kind_do_not_wait_for_it(void **state)
{
	struct fixture *f = *state;
	struct store_job j = { .repo = f->repo, .kind = JOBKIND_COMPARE, .suite = "ffa", .base_how = "given", .origin = "api" };
	j.device_kind = DEVICE_CUDA;
	hello(f, 1000);
	ok(store_job_insert(f->db, &j, 1000, &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
}

static void jobs_of_another_class_do_not_wait_for_it(void **state)
{
	struct fixture *f = *state;
	struct msg_device other = fixture_device();
	int64_t id;
	hello(f, 1000);
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	snprintf(other.name, sizeof other.name, "another model");
	ok(store_device_put(f->db, &other, 5 * LIMIT_MS, &id, &err));
	ok(store_device_state(f->db, f->device, DEVICESTATE_QUARANTINED, "fails its health check", 1500, &err));
	fixture_job(f, "main", 1, 2, 2000);
	run_sql(f, "UPDATE job SET device_class = (SELECT class FROM device WHERE uuid = 'sim-1')");
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	fixture_job(f, "main", 2, 3, 5 * LIMIT_MS);
	run_sql(f,
		"UPDATE job SET device_class = (SELECT class FROM device WHERE uuid = 'sim-0') WHERE id = (SELECT max(id) FROM job)");
	assert_int_equal(look(f, 5 * LIMIT_MS), 1); /* at once: the other device cannot run the job */
	assert_int_equal(fixture_number(f, "SELECT title LIKE '%; 1 job waits' FROM alert"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reported_once_until_it_is_received, setup, teardown),
		cmocka_unit_test_setup_teardown(not_silent_while_the_daemon_was_off, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_on_purpose, setup, teardown),
		cmocka_unit_test_setup_teardown(quarantined_while_jobs_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answered_quarantine_is_reported_again_when_it_is_new, setup, teardown),
		cmocka_unit_test_setup_teardown(another_device_takes_the_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_of_another_kind_do_not_wait_for_it, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_of_another_class_do_not_wait_for_it, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
