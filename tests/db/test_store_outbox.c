/* Pending notifications: sent in the order of their due times, retried, and finally given up. */
#include "fixture_db.h"

#include "db/db.h"

/** Id of the row due at `now`, 0 if none; its target and payload in `what`. */
static int64_t due(struct fixture *f, int64_t now, char *what, size_t size, int *attempts)
{
	struct buf payload;
	struct store_outbox row = { 0 };
	buf_init(&payload, 1 << 16);
	int r = store_outbox_due(f->db, now, NULL, 0, &row, &payload, &err);
	assert_true(r >= 0);
	snprintf(what, size, "%s %s %s", row.kind, row.target, payload.data);
	*attempts = row.attempts;
	buf_fini(&payload);
	return r ? row.id : 0;
}

static int64_t next_at(struct fixture *f)
{
	int64_t at;
	ok(store_outbox_next_at(f->db, 0, &at, &err));
	return at;
}

static void rows_wait_are_tried_and_end(void **state)
{
	struct fixture *f = *state;
	char what[300];
	int attempts;
	assert_int_equal(next_at(f), 0);
	ok(store_outbox_insert(f->db, "webhook", "chat", "{\"a\":1}", 100, &err));
	ok(store_outbox_insert(f->db, "webhook", "mail", "{\"b\":2}", 200, &err));
	assert_int_equal(next_at(f), 100);
	int64_t first = due(f, 99, what, sizeof what, &attempts); /* never tried: a clock that was set back does not delay it */
	assert_string_equal(what, "webhook chat {\"a\":1}");
	assert_int_equal(attempts, 0);
	ok(store_outbox_result(f->db, first, &(struct store_attempt){ 1000, 7, 0, "connection refused" }, 5000, &err));
	int64_t second = due(f, 1000, what, sizeof what, &attempts);
	assert_string_equal(what, "webhook mail {\"b\":2}");
	ok(store_outbox_result(f->db, second, &(struct store_attempt){ 1000, 3, 204, NULL }, 0, &err));
	assert_int_equal(due(f, 1000, what, sizeof what, &attempts), 0);
	assert_int_equal(next_at(f), 5000);
	assert_int_equal(due(f, 5000, what, sizeof what, &attempts), first);
	assert_int_equal(attempts, 1);
	assert_int_equal(due(f, 5000 - STORE_OUTBOX_PAUSE_MAX_MS, what, sizeof what, &attempts), 0);
	assert_int_equal(due(f, 4999 - STORE_OUTBOX_PAUSE_MAX_MS, what, sizeof what, &attempts), first); /* no pause is longer */
	ok(store_outbox_result(f->db, first, &(struct store_attempt){ 5000, 9, 500, "gone" }, 0, &err));
	assert_int_equal(due(f, INT64_MAX, what, sizeof what, &attempts), 0);
	assert_int_equal(next_at(f), 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'failed' AND last_error = 'gone' AND attempts = 2"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'sent' AND last_error = ''"), 1);
}

/** Enqueue a notification about a commit. */
static void report(struct fixture *f, const char *word)
{
	ok(store_outbox_replace(f->db, "status", "kernels", "89ab flopwatch/ffa", word, 100, &err));
}

static void only_the_newest_word_counts(void **state)
{
	struct fixture *f = *state;
	char what[300];
	int attempts;
	report(f, "\"queued\"");
	report(f, "\"queued\"");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox"), 1);
	report(f, "\"running\"");
	ok(store_outbox_replace(f->db, "status", "kernels", "cdef flopwatch/ffa", "\"queued\"", 100, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'superseded'"), 1);
	int64_t id = due(f, 100, what, sizeof what, &attempts);
	assert_string_equal(what, "status kernels \"running\"");
	/* it is being sent while the next one is enqueued, fails, and is not retried */
	report(f, "\"failure\"");
	ok(store_outbox_result(f->db, id, &(struct store_attempt){ 100, 1, 500, "500" }, 5000, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'superseded'"), 2);
	ok(store_outbox_replace(f->db, "status", "kernels", "cdef flopwatch/ffa", "\"running\"", 100, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'waiting'"), 2);
}

static void one_at_a_time_to_each(void **state)
{
	struct fixture *f = *state;
	struct store_outbox row;
	struct buf payload;
	const char busy[1][160] = { "webhook chat" };
	buf_init(&payload, 1 << 16);
	ok(store_outbox_insert(f->db, "webhook", "chat", "1", 100, &err));
	assert_int_equal(store_outbox_due(f->db, 100, busy, 1, &row, &payload, &err), 0);
	ok(store_outbox_insert(f->db, "webhook", "mail", "2", 100, &err));
	assert_int_equal(store_outbox_due(f->db, 100, busy, 1, &row, &payload, &err), 1);
	assert_string_equal(row.target, "mail");
	assert_int_equal(strncmp(row.message_id, "msg_", 4), 0);
	assert_int_equal(strlen(row.message_id), 36);
	buf_fini(&payload);
}

static void count_attempt(void *arg, const struct store_attempt *row)
{
	int *sum = arg;
	*sum += row->status + (int)row->duration_ms;
}

static void again_and_gone(void **state)
{
	struct fixture *f = *state;
	int n, sum = 0;
	ok(store_outbox_insert(f->db, "webhook", "chat", "1", 100, &err));
	assert_int_equal(store_outbox_again(f->db, 7, 100, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	ok(store_outbox_result(f->db, 1, &(struct store_attempt){ 100, 5, 410, "gone" }, 0, &err));
	ok(store_outbox_again(f->db, 1, 200, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts = 0"), 1);
	ok(store_outbox_result(f->db, 1, &(struct store_attempt){ 200, 5, 200, NULL }, 0, &err));
	ok(view_attempts(f->db, 1, count_attempt, &sum, &err));
	assert_int_equal(sum, 410 + 5 + 200 + 5);
	ok(store_outbox_prune(f->db, 100, 10, &n, &err));
	assert_int_equal(n, 0);
	ok(store_outbox_prune(f->db, 101, 10, &n, &err));
	assert_int_equal(n, 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox_attempt"), 0);
}

/** Steps of a search for old rows among `rows` that are not old. */
static int64_t steps_beside(struct fixture *f, int rows)
{
	int n;
	ok(db_begin(f->db, &err));
	for (int i = 0; i < rows; i++) {
		ok(store_outbox_insert(f->db, "webhook", "chat", "{}", 1000, &err));
		ok(store_outbox_result(f->db, fixture_number(f, "SELECT max(id) FROM outbox"),
			&(struct store_attempt){ 1000, 5, 200, NULL }, 0, &err));
	}
	ok(db_commit(f->db, &err));
	ok(store_outbox_prune(f->db, 100, 10, &n, &err)); /* prepares its statement */
	int64_t before = db_steps(f->db);
	ok(store_outbox_prune(f->db, 100, 10, &n, &err));
	assert_int_equal(n, 0);
	return db_steps(f->db) - before;
}

/* This query runs four times a second while samples are archived. */
static void what_is_old_is_found_without_reading_all(void **state)
{
	struct fixture *f = *state;
	int64_t few = steps_beside(f, 20);
	assert_int_equal(steps_beside(f, 2000), few);
}

static void see_notification(void *arg, const struct view_notification *row)
{
	char *seen = arg;
	size_t len = strlen(seen);
	snprintf(seen + len, 100 - len, "%lld %s, ", (long long)row->id, row->state);
}

/** The page of notifications in `state`, before `before`. */
static const char *shown(struct fixture *f, const char *state, int64_t before, char seen[100])
{
	seen[0] = '\0';
	ok(view_notifications(f->db, state, before, 2, see_notification, seen, &err));
	return seen;
}

/* Rows in a rare state may be at any position. */
static void rare_ones_are_shown_without_reading_all(void **state)
{
	struct fixture *f = *state;
	char seen[100];
	int64_t steps[2];
	for (int i = 0; i < 3; i++) {
		ok(store_outbox_insert(f->db, "webhook", "chat", "{}", 1000, &err));
		ok(store_outbox_result(f->db, i + 1, &(struct store_attempt){ 1000, 5, 410, "gone" }, 0, &err));
	}
	for (int i = 0; i < 2; i++) {
		steps_beside(f, i ? 2000 : 20);
		assert_string_equal(shown(f, "failed", 0, seen), "3 failed, 2 failed, ");
		int64_t before = db_steps(f->db);
		assert_string_equal(shown(f, "failed", 0, seen), "3 failed, 2 failed, ");
		assert_string_equal(shown(f, "failed", 2, seen), "1 failed, ");
		assert_string_equal(shown(f, "superseded", 0, seen), "");
		assert_string_equal(shown(f, "sent", 6, seen), "5 sent, 4 sent, ");
		steps[i] = db_steps(f->db) - before;
	}
	assert_int_equal(steps[0], steps[1]);
	assert_string_equal(shown(f, NULL, 5, seen), "4 sent, 3 failed, ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_wait_are_tried_and_end, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(only_the_newest_word_counts, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(one_at_a_time_to_each, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(again_and_gone, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_old_is_found_without_reading_all, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rare_ones_are_shown_without_reading_all, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
