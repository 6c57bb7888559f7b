/* Pending notifications: sent in the order of their due times, retried, and finally given up. */
#include "failing_statements.h"

#include "fixture_db.h"

#include "db/db.h"

/** Id of the row due at `now`, 0 if none; its target and payload in `what`. */
static int64_t due(struct fixture *f, int64_t now, char *what, size_t size, int *attempts)
{
	struct buf payload;
	struct store_outbox row = { 0 };
	buf_init(&payload, 1 << 16);
	int r = store_outbox_due(f->db, now, NULL, 0, NULL, 0, &row, &payload, &err);
	assert_true(r >= 0);
	snprintf(what, size, "%s %s %s", row.kind, row.target, payload.data);
	*attempts = row.attempts;
	buf_fini(&payload);
	return r ? row.id : 0;
}

static int64_t next_at(struct fixture *f)
{
	int64_t at;
	ok(store_outbox_next_at(f->db, 0, NULL, 0, &at, &err));
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
	ok(db_begin(f->db, &err));
	ok(store_outbox_result(f->db, first, &(struct store_attempt){ 1000, 7, 0, "connection refused", NULL }, 5000, &err));
	ok(db_commit(f->db, &err));
	int64_t second = due(f, 1000, what, sizeof what, &attempts);
	assert_string_equal(what, "webhook mail {\"b\":2}");
	ok_once(store_outbox_result(f->db, second, &(struct store_attempt){ 1000, 3, 204, NULL, NULL }, 0, &err));
	assert_int_equal(due(f, 1000, what, sizeof what, &attempts), 0);
	assert_int_equal(next_at(f), 5000);
	assert_int_equal(due(f, 5000, what, sizeof what, &attempts), first);
	assert_int_equal(attempts, 1);
	assert_int_equal(due(f, 5000 - STORE_OUTBOX_PAUSE_MAX_MS, what, sizeof what, &attempts), 0);
	assert_int_equal(due(f, 4999 - STORE_OUTBOX_PAUSE_MAX_MS, what, sizeof what, &attempts), first); /* no pause is longer */
	ok_once(store_outbox_result(f->db, first, &(struct store_attempt){ 5000, 9, 500, "gone", NULL }, 0, &err));
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

static void only_the_newest_status_is_sent(void **state)
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
	ok_once(store_outbox_result(f->db, id, &(struct store_attempt){ 100, 1, 500, "500", NULL }, 5000, &err));
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
	assert_int_equal(store_outbox_due(f->db, 100, busy, 1, NULL, 0, &row, &payload, &err), 0);
	ok(store_outbox_insert(f->db, "webhook", "mail", "2", 100, &err));
	assert_int_equal(store_outbox_due(f->db, 100, busy, 1, NULL, 0, &row, &payload, &err), 1);
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

static void rows_are_sent_again_and_deleted(void **state)
{
	struct fixture *f = *state;
	int n, sum = 0;
	ok(store_outbox_insert(f->db, "webhook", "chat", "1", 100, &err));
	assert_int_equal(store_outbox_again(f->db, 7, 100, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ 100, 5, 410, "gone", NULL }, 0, &err));
	ok(store_outbox_again(f->db, 1, 200, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts = 0"), 1);
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ 200, 5, 200, NULL, NULL }, 0, &err));
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
		ok_once(store_outbox_result(f->db, fixture_number(f, "SELECT max(id) FROM outbox"),
			&(struct store_attempt){ 1000, 5, 200, NULL, NULL }, 0, &err));
	}
	ok(db_commit(f->db, &err));
	ok(store_outbox_prune(f->db, 100, 10, &n, &err)); /* prepares its statement */
	int64_t before = db_steps(f->db);
	ok(store_outbox_prune(f->db, 100, 10, &n, &err));
	assert_int_equal(n, 0);
	return db_steps(f->db) - before;
}

/* This query runs four times a second while samples are archived. */
static void old_rows_are_found_by_index(void **state)
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
static void rare_notifications_are_found_without_a_full_scan(void **state)
{
	struct fixture *f = *state;
	char seen[100];
	int64_t steps[2];
	for (int i = 0; i < 3; i++) {
		ok(store_outbox_insert(f->db, "webhook", "chat", "{}", 1000, &err));
		ok_once(store_outbox_result(f->db, i + 1, &(struct store_attempt){ 1000, 5, 410, "gone", NULL }, 0, &err));
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

static int64_t due_with(struct fixture *f, int64_t now, const struct store_outbox_hold *hold, struct store_outbox *row)
{
	struct buf payload;
	buf_init(&payload, 1 << 16);
	int r = store_outbox_due(f->db, now, NULL, 0, hold, 1, row, &payload, &err);
	assert_true(r >= 0);
	buf_fini(&payload);
	return r ? row->id : 0;
}

static void alert(struct fixture *f, const char *target, const char *payload, int64_t at)
{
	ok(store_outbox_insert(f->db, "webhook", target, payload, at, &err));
}

static void held_rows_wait(void **state)
{
	struct fixture *f = *state;
	struct store_outbox_hold hold = { .target = "chat", .group_ms = 500 };
	struct store_outbox row;
	int64_t at;
	alert(f, "chat", "{\"alert\":1}", 1000);
	assert_int_equal(due_with(f, 1499, &hold, &row), 0);
	ok(store_outbox_next_at(f->db, 1499, &hold, 1, &at, &err));
	assert_int_equal(at, 1500);
	assert_int_equal(due_with(f, 1500, &hold, &row), 1);
	assert_int_equal(due_with(f, 999, &hold, &row), 1); /* the clock was set back */
	hold = (struct store_outbox_hold){ .target = "chat", .until = 9000 };
	assert_int_equal(due_with(f, 8999, &hold, &row), 0);
	ok(store_outbox_next_at(f->db, 2000, &hold, 1, &at, &err));
	assert_int_equal(at, 9000);
	assert_int_equal(due_with(f, 9000, &hold, &row), 1);
	ok(store_outbox_replace(f->db, "webhook", "chat", "test", "{}", 2000, &err));
	assert_int_equal(due_with(f, 2000, &hold, &row), 2); /* a test message does not wait */
	hold = (struct store_outbox_hold){ .target = "chat", .group_ms = 500 };
	alert(f, "chat", "{\"event\":\"job.done\"}", 2500);
	assert_int_equal(fixture_number(f, "UPDATE outbox SET state = 'sent' WHERE id < 3 RETURNING 1"), 1);
	assert_int_equal(due_with(f, 2500, &hold, &row), 3); /* only alerts have a culprit to wait for */
	ok(store_outbox_next_at(f->db, 2000, &hold, 1, &at, &err));
	assert_int_equal(at, 2500);
	snprintf(hold.target, sizeof hold.target, "mail");
	assert_int_equal(due_with(f, 2500, &hold, &row), 3);
}

static int group(struct fixture *f, int64_t id, char *text, size_t size)
{
	int64_t ids[8];
	int n;
	struct buf payloads;
	buf_init(&payloads, 1 << 16);
	ok_once(store_outbox_group(f->db, &(struct store_outbox){ .id = id }, ids, 8, &n, &payloads, &err));
	snprintf(text, size, "%s", payloads.data);
	buf_fini(&payloads);
	return n;
}

static void messages_of_a_culprit_are_one_thread(void **state)
{
	static const char opened[] = "{\"alert\":1,\"repo\":\"k\",\"target\":\"aa\",\"culprits\":[]}";
	static const char named[] = "{\"alert\":1,\"repo\":\"k\",\"target\":\"aa\",\"culprits\":[{\"commits\":1,\"to\":\"bb\"}]}";
	static const char other[] = "{\"alert\":2,\"repo\":\"k\",\"target\":\"cc\",\"culprits\":[{\"commits\":1,\"to\":\"aa\"}]}";
	struct fixture *f = *state;
	struct store_outbox row = { .id = 3, .target = "chat", .thread = "k aa" };
	struct store_outbox_first first;
	struct buf payload;
	char text[900], wanted[900];
	alert(f, "chat", opened, 100);
	alert(f, "mail", opened, 100);
	alert(f, "chat", named, 100);
	alert(f, "chat", other, 100);
	alert(f, "chat", "{\"alert\":3,\"device\":\"sim-0\"}", 100);
	alert(f, "chat", "{\"job\":3}", 100);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE id < 5 AND thread = 'k aa'"), 4);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE id = 5 AND thread = 'alert 3'"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE id = 6 AND thread = ''"), 1);
	snprintf(wanted, sizeof wanted, "[%s,%s,%s]", opened, named, other);
	assert_int_equal(group(f, 1, text, sizeof text), 3);
	assert_string_equal(text, wanted);
	assert_int_equal(group(f, 6, text, sizeof text), 0); /* without a thread */
	buf_init(&payload, 4096);
	assert_int_equal(store_outbox_first(f->db, &row, &first, &payload, &err), 0);
	/* a message that failed goes out again with the same rows, and without newer ones */
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ .at = 100, .error = "500" }, 5000, &err));
	ok_once(store_outbox_result(f->db, 3, &(struct store_attempt){ .at = 100, .error = "500" }, 5000, &err));
	assert_int_equal(group(f, 1, text, sizeof text), 2);
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ .at = 5000, .status = 200, .answer = "$event" }, 0, &err));
	ok_once(store_outbox_result(f->db, 3, &(struct store_attempt){ .at = 5000, .status = 200, .answer = "$event" }, 0, &err));
	row.id = 4;
	assert_int_equal(store_outbox_first(f->db, &row, &first, &payload, &err), 1);
	assert_string_equal(first.answer, "$event");
	assert_int_equal(first.at, 5000);
	assert_string_equal(payload.data, opened);
	snprintf(row.target, sizeof row.target, "mail");
	assert_int_equal(store_outbox_first(f->db, &row, &first, &payload, &err), 0); /* of another receiver */
	buf_fini(&payload);
}

static void first_of(struct fixture *f, int64_t id, const char *answer)
{
	struct store_outbox row = { .id = id, .target = "chat", .thread = "k aa" };
	struct store_outbox_first first = { 0 };
	struct buf payload;
	buf_init(&payload, 4096);
	assert_int_equal(store_outbox_first(f->db, &row, &first, &payload, &err), *answer != 0);
	assert_string_equal(first.answer, answer);
	buf_fini(&payload);
}

/* A forum's thread can be deleted. */
static void a_refused_reply_begins_a_new_thread(void **state)
{
	static const char payload[] = "{\"alert\":1,\"repo\":\"k\",\"target\":\"aa\"}";
	struct fixture *f = *state;
	for (int i = 0; i < 4; i++)
		alert(f, "chat", payload, 100);
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ .at = 100, .status = 200, .answer = "770" }, 0, &err));
	ok_once(store_outbox_result(f->db, 2, &(struct store_attempt){ .at = 200, .status = 500, .error = "500" }, 5000, &err));
	first_of(f, 2, "770");
	ok_once(store_outbox_result(f->db, 2, &(struct store_attempt){ .at = 200, .status = 404, .error = "404" }, 5000, &err));
	first_of(f, 2, "");
	ok_once(store_outbox_result(f->db, 2, &(struct store_attempt){ .at = 5000, .status = 200, .answer = "771" }, 0, &err));
	first_of(f, 3, "771");
	ok_once(store_outbox_result(f->db, 3, &(struct store_attempt){ .at = 6000, .status = 200, .answer = "771" }, 0, &err));
	first_of(f, 4, "771");
}

static void a_row_counts_its_deliveries(void **state)
{
	struct fixture *f = *state;
	struct store_outbox_hold none = { 0 };
	struct store_outbox row;
	ok(store_outbox_insert(f->db, "webhook", "chat", "{}", 100, &err));
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ .at = 100, .status = 500, .error = "500" }, 200, &err));
	assert_int_equal(due_with(f, 200, &none, &row), 1);
	assert_int_equal(row.n_sent, 0);
	ok_once(store_outbox_result(f->db, 1, &(struct store_attempt){ .at = 200, .status = 200 }, 0, &err));
	ok(store_outbox_again(f->db, 1, 300, &err));
	assert_int_equal(due_with(f, 300, &none, &row), 1);
	assert_int_equal(row.n_sent, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_refused_reply_begins_a_new_thread, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_row_counts_its_deliveries, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(held_rows_wait, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(messages_of_a_culprit_are_one_thread, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rows_wait_are_tried_and_end, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(only_the_newest_status_is_sent, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(one_at_a_time_to_each, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rows_are_sent_again_and_deleted, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(old_rows_are_found_by_index, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			rare_notifications_are_found_without_a_full_scan, fixture_setup, fixture_teardown),
	};
	return run_twice(tests);
}
