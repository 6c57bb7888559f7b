/* Deliveries that are owed: due in order, tried again later, given up at last. */
#include "fixture_db.h"

#include "db/store_outbox.h"

/** Id of the row due at `now`, 0 none; its target and payload in `what`. */
static int64_t due(struct fixture *f, int64_t now, char *what, size_t size, int *attempts)
{
	struct buf payload;
	char kind[16], target[64];
	int64_t id = 0;
	buf_init(&payload, 1 << 16);
	int r = store_outbox_due(f->db, now, &id, kind, sizeof(kind), target, sizeof(target), &payload, attempts, &err);
	assert_true(r >= 0);
	snprintf(what, size, "%s %s %s", kind, target, payload.data);
	buf_fini(&payload);
	return r ? id : 0;
}

static int64_t next_at(struct fixture *f)
{
	int64_t at;
	ok(store_outbox_next_at(f->db, &at, &err));
	return at;
}

static void rows_wait_are_tried_and_end(void **state)
{
	struct fixture *f = *state;
	char what[128];
	int attempts;
	assert_int_equal(next_at(f), 0);
	ok(store_outbox_insert(f->db, "webhook", "chat", "{\"a\":1}", 100, &err));
	ok(store_outbox_insert(f->db, "webhook", "mail", "{\"b\":2}", 200, &err));
	assert_int_equal(next_at(f), 100);
	assert_int_equal(due(f, 99, what, sizeof(what), &attempts), 0);
	int64_t first = due(f, 1000, what, sizeof(what), &attempts);
	assert_string_equal(what, "webhook chat {\"a\":1}");
	assert_int_equal(attempts, 0);
	ok(store_outbox_result(f->db, first, false, "connection refused", 5000, &err));
	int64_t second = due(f, 1000, what, sizeof(what), &attempts);
	assert_string_equal(what, "webhook mail {\"b\":2}");
	ok(store_outbox_result(f->db, second, true, NULL, 0, &err));
	assert_int_equal(due(f, 1000, what, sizeof(what), &attempts), 0);
	assert_int_equal(next_at(f), 5000);
	assert_int_equal(due(f, 5000, what, sizeof(what), &attempts), first);
	assert_int_equal(attempts, 1);
	ok(store_outbox_result(f->db, first, false, "gone", 0, &err));
	assert_int_equal(due(f, INT64_MAX, what, sizeof(what), &attempts), 0);
	assert_int_equal(next_at(f), 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'failed' AND last_error = 'gone' AND attempts = 2"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'sent' AND last_error = ''"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_wait_are_tried_and_end, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
