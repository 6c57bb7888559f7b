/* A device that falls silent while jobs wait for it: one alert, which ends when it is heard again; and who is silent on purpose. */
#include "fixture_db.h"

#include "config.h"
#include "db/store_alert.h"
#include "silence.h"

enum { LIMIT_MS = 60000 };

static struct config *config;

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	config = calloc(1, sizeof(*config));
	if (!config)
		return -1;
	config->silence_ms = LIMIT_MS;
	config->n_webhooks = 1;
	snprintf(config->webhook[0].name, sizeof(config->webhook[0].name), "chat");
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

static int look(struct fixture *f, int64_t now_ms)
{
	int changed;
	ok(silence_look(f->db, config, now_ms, &changed, &err));
	return changed;
}

static void hello(struct fixture *f, int64_t now_ms)
{
	struct msg_device d = fixture_device();
	int64_t id;
	ok(store_device_put(f->db, &d, now_ms, &id, &err));
}

static void told_once_until_it_is_heard(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	assert_int_equal(look(f, 1000 + 2 * LIMIT_MS), 0); /* nothing waits for it */
	fixture_job(f, "main", 1, 2, 2 * LIMIT_MS);
	assert_int_equal(look(f, 2 * LIMIT_MS + 5000), 0); /* and now not long enough */
	assert_int_equal(look(f, 4 * LIMIT_MS), 1);
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'silent' AND state = 'open' AND repo IS NULL AND "
				  "title = 'device sim-0 has said nothing for 239 s, and 1 jobs wait'"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'device' = 'sim-0'"), 1);
	hello(f, 5 * LIMIT_MS + 1);
	assert_int_equal(look(f, 5 * LIMIT_MS + 2), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'resolved'"), 1);
	assert_int_equal(look(f, 7 * LIMIT_MS), 1); /* silent again: another alert */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 2);
}

static void silent_on_purpose(void **state)
{
	struct fixture *f = *state;
	hello(f, 1000);
	int64_t job = fixture_job(f, "main", 1, 2, 1000);
	ok(store_device_state(f->db, f->device, "paused", "by anna", &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	ok(store_device_state(f->db, f->device, "ok", "", &err));
	ok(store_job_send(f->db, job, f->device, "n", 2000, &err)); /* a long job: it is busy */
	fixture_job(f, "main", 2, 3, 2000);
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
	ok(store_job_state(f->db, job, "failed", "x", 3000, &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 1);
	ok(store_device_state(f->db, f->device, "paused", "by anna", &err));
	assert_int_equal(look(f, 6 * LIMIT_MS), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'resolved'"), 1);
}

static void jobs_of_another_kind_do_not_wait_for_it(void **state)
{
	struct fixture *f = *state;
	struct store_job j = { .repo = f->repo, .kind = "change", .suite = "ffa", .base_how = "given", .origin = "api" };
	snprintf(j.device_kind, sizeof(j.device_kind), "cuda");
	hello(f, 1000);
	ok(store_job_insert(f->db, &j, 1000, &err));
	assert_int_equal(look(f, 5 * LIMIT_MS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(told_once_until_it_is_heard, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_on_purpose, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_of_another_kind_do_not_wait_for_it, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
