/* What the janitor takes away, and what it must leave. */
#include "fixture_db.h"

#include "db/store/event.h"
#include "flopwatchd/janitor.h"

static const int64_t day_ms = INT64_C(24) * 3600 * 1000;

static int64_t count(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t n = row_int(s, 0);
	stmt_reset(s);
	return n;
}

static void old_events_go_in_steps(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	ok(db_begin(f->db, &err));
	for (int i = 0; i < 1200; i++)
		ok(store_event(f->db, now - 8 * day_ms + i, "job.state", "{}", &id, &err));
	for (int i = 0; i < 30; i++)
		ok(store_event(f->db, now - 6 * day_ms + i, "job.state", "{}", &id, &err));
	assert_int_equal(store_delivery(f->db, "old", now - 181 * day_ms, &err), 1);
	assert_int_equal(store_delivery(f->db, "new", now - day_ms, &err), 1);
	ok(db_commit(f->db, &err));

	assert_int_equal(janitor_step(f->db, now, &err), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 730);
	assert_int_equal(janitor_step(f->db, now, &err), 1);
	assert_int_equal(janitor_step(f->db, now, &err), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 30);
	assert_int_equal(count(f, "SELECT count(*) FROM webhook_seen"), 1);
	assert_int_equal(janitor_step(f->db, now, &err), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 30);
}

/* However many deliveries come, no more than the newest are remembered. */
static void deliveries_are_bounded(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms;
	char id[32];
	ok(db_begin(f->db, &err));
	for (int i = 0; i < JANITOR_DELIVERIES + 700; i++) {
		snprintf(id, sizeof id, "%d", i);
		assert_int_equal(store_delivery(f->db, id, now - 1000000 + i, &err), 1);
	}
	ok(db_commit(f->db, &err));
	while (janitor_step(f->db, now, &err) == 1)
		;
	assert_int_equal(count(f, "SELECT count(*) FROM webhook_seen"), JANITOR_DELIVERIES);
	assert_int_equal(count(f, "SELECT min(CAST(id AS INTEGER)) FROM webhook_seen"), 700);
}

static void room_that_is_left_goes_back(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	char text[4001] = "";
	memset(text, 'x', sizeof text - 1);
	ok(db_begin(f->db, &err));
	for (int i = 0; i < 2000; i++)
		ok(store_event(f->db, now - 8 * day_ms + i, "job.state", text, &id, &err));
	ok(db_commit(f->db, &err));
	int64_t before = count(f, "PRAGMA page_count");
	int steps = 0, more;
	while ((more = janitor_step(f->db, now, &err)) == 1 && ++steps < 50)
		;
	ok(more);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 0);
	assert_true(count(f, "PRAGMA page_count") < before / 2);
	assert_true(steps > 4); /* in steps, so that nobody waits for it */
	ok(db_check(f->db, &err));
}

static void a_broken_database_is_told(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err)); /* somebody forgot to end it: a step must not join in */
	err_clear(&err);
	assert_int_equal(janitor_step(f->db, day_ms, &err), -1);
	assert_true(err.text[0]);
	err_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_events_go_in_steps, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(deliveries_are_bounded, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(room_that_is_left_goes_back, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_broken_database_is_told, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests_name("janitor", tests, NULL, NULL);
}
