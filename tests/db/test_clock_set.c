/* Queued and running jobs keep their age when the machine's clock is set, and no stored time is in the future. */
#include "fixture_db.h"

#include "db/db.h"

enum { HOUR = 3600000, NOW = 100 * HOUR, SESSION = 50 * HOUR };

static int ground(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	fixture_ground(*state);
	return 0;
}

static void put(struct fixture *f)
{
	const char *const rows[] = {
		"INSERT INTO job (id, repo, target_sha, origin, state, queued_at, started_at, ended_at, again_at) VALUES "
		"(1, 1, 'a', 'push', 'done', 355000000, 358000000, 359900000, 360600000), "
		"(2, 1, 'b', 'push', 'measuring', 358000000, 359000000, NULL, NULL), (3, 1, 'c', 'push', 'queued', 359990000, NULL, NULL, NULL), "
		"(4, 1, 'd', 'push', 'done', 100000, 200000, 300000, NULL)",
		"INSERT INTO outbox (message_id, kind, target, payload, attempts, next_at, created_at) VALUES ('m', 'webhook', 'w', '{}', 1, "
		"360060000, 1), ('n', 'webhook', 'w', '{}', 0, 1, 1)",
		"INSERT INTO token (id, name, hash, scope, created_at, used_at) VALUES (1, 't', 'h', 'read', 1, NULL)",
		"INSERT INTO account (token, issuer, subject, refresh, checked_at, tried_at) VALUES (1, 'i', '1', 'x', 359800000, 359900000)",
		"INSERT INTO session (hash, token, expires_at) VALUES ('s', 1, 530000000)",
		"INSERT INTO webhook_seen (id, at) VALUES ('seen', 359000000)",
		"UPDATE device SET seen_at = 359500000, state_at = 359400000",
		"INSERT INTO alert (kind, device, opened_at, changed_at, cells) VALUES ('device_offline', 1, 359600000, 359700000, '[]')",
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct stmt *s = db_stmt(f->db, rows[i], &err);
		assert_non_null(s);
		ok(stmt_run(s, &err));
	}
}

static void set(struct fixture *f, int64_t by, int64_t now)
{
	ok(db_begin(f->db, &err));
	ok(store_clock_set(f->db, by, SESSION, now, &err));
	ok(db_commit(f->db, &err));
}

#define is(want, sql) assert_int_equal(fixture_number(f, sql), want)

static void an_hour_back_moves_waiting_and_future_times(void **state)
{
	struct fixture *f = *state;
	int64_t ahead;
	put(f);
	ok(store_clock_ahead(f->db, NOW, &ahead, &err));
	assert_int_equal(ahead, 0);
	ok(store_clock_ahead(f->db, NOW - HOUR, &ahead, &err));
	assert_int_equal(ahead, HOUR - 10000); /* the queued job is the newest */
	set(f, -HOUR, NOW - HOUR);
	is(358000000 - HOUR, "SELECT queued_at FROM job WHERE id = 2");
	is(359000000 - HOUR, "SELECT started_at FROM job WHERE id = 2");
	is(359990000 - HOUR, "SELECT queued_at FROM job WHERE id = 3");
	is(1, "SELECT started_at IS NULL FROM job WHERE id = 3");
	is(1900000, "SELECT ended_at - started_at FROM job WHERE id = 1"); /* ended in the future: both times are moved */
	is(360600000 - HOUR, "SELECT again_at FROM job WHERE id = 1");
	is(300000, "SELECT ended_at FROM job WHERE id = 4"); /* ended long ago: its time stays */
	is(60000, "SELECT next_at - 356400000 FROM outbox WHERE message_id = 'm'");
	is(1, "SELECT next_at FROM outbox WHERE message_id = 'n'");
	is(530000000 - HOUR, "SELECT expires_at FROM session");
	is(359800000 - HOUR, "SELECT checked_at FROM account");
	is(359900000 - HOUR, "SELECT tried_at FROM account");
	is(359000000 - HOUR, "SELECT at FROM webhook_seen");
	is(500000, "SELECT 356400000 - seen_at FROM device");
	is(359400000 - HOUR, "SELECT state_at FROM device");
	is(100000, "SELECT changed_at - opened_at FROM alert WHERE changed_at = 359700000 - 3600000");
	ok(store_clock_ahead(f->db, NOW - HOUR, &ahead, &err));
	assert_int_equal(ahead, 0);
}

static void an_hour_forward_keeps_ages(void **state)
{
	struct fixture *f = *state;
	put(f);
	set(f, HOUR, NOW + HOUR);
	is(359000000 + HOUR, "SELECT started_at FROM job WHERE id = 2");
	is(359990000 + HOUR, "SELECT queued_at FROM job WHERE id = 3");
	is(359900000, "SELECT ended_at FROM job WHERE id = 1");
	is(360060000 + HOUR, "SELECT next_at FROM outbox WHERE message_id = 'm'");
	is(359500000 + HOUR, "SELECT seen_at FROM device");
	is(359400000, "SELECT state_at FROM device");
	is(530000000 + HOUR, "SELECT expires_at FROM session");
	is(359600000, "SELECT opened_at FROM alert");
}

/* A machine that starts in 1970 and sets its clock later. */
static void a_clock_jump_of_years_leaves_no_future_time_and_extends_no_session(void **state)
{
	struct fixture *f = *state;
	const int64_t years = 500000 * (int64_t)HOUR;
	put(f);
	set(f, years, HOUR);
	is(HOUR, "SELECT started_at FROM job WHERE id = 2");
	is(HOUR, "SELECT queued_at FROM job WHERE id = 3");
	is(HOUR, "SELECT seen_at FROM device");
	is(HOUR + SESSION, "SELECT expires_at FROM session");
	is(2 * HOUR, "SELECT next_at FROM outbox WHERE message_id = 'm'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_hour_back_moves_waiting_and_future_times, ground, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_hour_forward_keeps_ages, ground, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_clock_jump_of_years_leaves_no_future_time_and_extends_no_session, ground, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
