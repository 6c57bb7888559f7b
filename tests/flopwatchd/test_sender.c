/* The outbox: growing pauses, unreachable receivers, delivered notifications. */
/* Left to `make check`: starts our programs. */
#include "fixture_daemon.h"

#include <arpa/inet.h>
#include <sqlite3.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "db/db.h"
#include "flopwatchd/notify/notify.h"

static struct txn txn;
static struct sender *notify;
static int listener = -1;
static char received[4096];

static int setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	txn = (struct txn){ .db = db };
	notify = NULL;
	received[0] = 0;
	snprintf(config->webhook[0].name, sizeof config->webhook[0].name, "chat");
	config->webhook[0].allow_internal = true;
	config->n_webhooks = 1;
	return 0;
}

static int teardown(void **state)
{
	sender_stop(notify);
	if (listener >= 0)
		close(listener);
	listener = -1;
	return fixture_teardown(state);
}

static void enqueue(const char *target)
{
	ok(db_begin(db, &err));
	ok(store_outbox_insert(db, "webhook", target, "{\"alert\":1}", clock_utc_ms(), &err));
	ok(db_commit(db, &err));
}

/* A receiver on loopback that answers 204; its port goes into the configuration. */
static void accept_one(void *arg, uint32_t events)
{
	static const char answer[] = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	(void)arg;
	(void)events;
	int fd = accept(listener, NULL, NULL);
	size_t n = 0;
	ssize_t got;
	assert_true(fd >= 0);
	while (!strstr(received, "{\"alert\":1}") && (got = read(fd, received + n, sizeof received - 1 - n)) > 0) {
		n += (size_t)got;
		received[n] = 0;
	}
	assert_int_equal(write(fd, answer, sizeof answer - 1), sizeof answer - 1);
	close(fd);
}

static int listen_anywhere(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	snprintf(config->webhook[0].url, sizeof config->webhook[0].url, "http://127.0.0.1:%d/hook", ntohs(at.sin_port));
	return listener;
}

static void test_pauses_grow_and_end(void **state)
{
	(void)state;
	const int64_t seconds[] = { 5, 60, 300, 600, 1200, 1500 };
	int64_t sum_ms = 0;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(sender_pause_ms(i + 1, 0), seconds[i] * 1000);
		assert_true(sender_pause_ms(i + 1, 0.999) > seconds[i] * 750 - 1);
		assert_true(sender_pause_ms(i + 1, 0.999) < seconds[i] * 1000);
		sum_ms += sender_pause_ms(i + 1, 0);
	}
	assert_int_equal(sender_pause_ms(7, 0), 0);
	assert_in_range(sum_ms, 55 * 60000, 65 * 60000); /* about an hour */
}

static void test_a_notification_arrives(void **state)
{
	(void)state;
	assert_int_equal(listen(listen_anywhere(), 4), 0);
	ok(loop_watch(loop, listener, EPOLLIN, accept_one, NULL, NULL, &err));
	notify = sender_start(loop, config, &txn);
	enqueue("chat");
	sender_wake(notify);
	fixture_until("SELECT count(*) FROM outbox WHERE state = 'sent'");
	assert_memory_equal(received, "POST /hook HTTP/1.1\r\n", 21);
	assert_non_null(strstr(received, "Content-Type: application/json\r\n"));
	assert_non_null(strstr(received, "webhook-id: msg_"));
	assert_int_equal(fixture_number("SELECT attempts FROM outbox"), 1);
}

static void test_a_receiver_that_is_not_there_is_tried_later(void **state)
{
	(void)state;
	listen_anywhere(); /* bound, but it does not listen */
	enqueue("chat");
	enqueue("chat");
	notify = sender_start(loop, config, &txn); /* sends due notifications at its start */
	fixture_until("SELECT count(*) = 2 FROM outbox WHERE attempts = 1");
	assert_int_equal(fixture_number("SELECT count(*) FROM outbox WHERE state = 'waiting' AND last_error <> ''"), 2);
	assert_true(fixture_number("SELECT min(next_at - created_at) FROM outbox") >= 3750);
	assert_true(fixture_number("SELECT max(next_at - created_at) FROM outbox") < 65000);
}

static void test_a_receiver_that_was_removed(void **state)
{
	(void)state;
	enqueue("other");
	notify = sender_start(loop, config, &txn);
	fixture_until("SELECT count(*) FROM outbox WHERE state = 'failed'");
	assert_string_equal(fixture_text("SELECT last_error FROM outbox"), "webhook other is no longer configured");
}

#define ANSWER(status, headers) "HTTP/1.1 " status "\r\n" headers "Content-Length: 0\r\nConnection: close\r\n\r\n"

static const char *scripted[10]; /* answers of a receiver, one a request; "": it hangs up. After them, none */
static int n_requests;
static char ids[10][80]; /* the header webhook-id of each request */

static void answer_as_scripted(void *arg, uint32_t events)
{
	char request[4096];
	(void)arg;
	(void)events;
	int fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_true(n_requests < 10 && scripted[n_requests]);
	ssize_t n = read(fd, request, sizeof request - 1);
	assert_true(n > 0);
	request[n] = 0;
	const char *id = strstr(request, "webhook-id: ");
	assert_non_null(id);
	snprintf(ids[n_requests], sizeof ids[0], "%.*s", (int)strcspn(id, "\r"), id);
	const char *answer = scripted[n_requests++];
	assert_int_equal(write(fd, answer, strlen(answer)), strlen(answer));
	close(fd);
}

static void start_scripted(void)
{
	n_requests = 0;
	memset(scripted, 0, sizeof scripted);
	assert_int_equal(listen(listen_anywhere(), 4), 0);
	ok(loop_watch(loop, listener, EPOLLIN, answer_as_scripted, NULL, NULL, &err));
	notify = sender_start(loop, config, &txn);
	enqueue("chat");
}

/* Send the waiting row now, without its pause, and wait for the result of attempt `n`. */
static void attempt(int n)
{
	char condition[80];
	ok(db_exec(db, &err, "UPDATE outbox SET next_at = 0 WHERE state = :state", "state=%s", "waiting"));
	sender_wake(notify);
	snprintf(condition, sizeof condition, "SELECT count(*) = %d FROM outbox_attempt", n);
	fixture_until(condition);
}

/* Failures, limits, answers that are no HTTP, and connections that end without one. */
static void test_each_failure_is_tried_again(void **state)
{
	(void)state;
	start_scripted();
	scripted[0] = ANSWER("500 Internal Server Error", "");
	scripted[1] = ANSWER("429 Too Many Requests", "Retry-After: 900\r\n");
	scripted[2] = "\x16\x03\x01 no HTTP\r\n\r\n";
	scripted[3] = "";
	scripted[4] = ANSWER("503 Service Unavailable", "Retry-After: yesterday\r\n");
	scripted[5] = ANSWER("204 No Content", "");
	for (int i = 1; i <= 5; i++) {
		attempt(i);
		assert_string_equal(fixture_text("SELECT state FROM outbox"), "waiting");
		assert_string_not_equal(fixture_text("SELECT last_error FROM outbox"), "");
		if (i == 2) /* the receiver's pause, where the daemon's own would be a minute */
			assert_true(fixture_number("SELECT o.next_at - a.at >= 900000 FROM outbox o JOIN outbox_attempt a ON "
						   "a.outbox = o.id ORDER BY a.id DESC LIMIT 1"));
	}
	attempt(6);
	assert_string_equal(fixture_text("SELECT state FROM outbox"), "sent");
	assert_string_equal(fixture_text("SELECT group_concat(status) FROM outbox_attempt"), "500,429,0,0,503,204");
	assert_int_equal(fixture_number("SELECT count(*) FROM outbox_attempt WHERE error = ''"), 1);
	for (int i = 1; i < 6; i++) /* so that a receiver recognises what it has */
		assert_string_equal(ids[i], ids[0]);
}

static void test_a_receiver_that_always_fails_is_given_up(void **state)
{
	(void)state;
	start_scripted();
	for (int i = 0; i < 7; i++)
		scripted[i] = ANSWER("500 Internal Server Error", "");
	for (int i = 1; i <= 7; i++) {
		assert_string_equal(fixture_text("SELECT state FROM outbox"), "waiting");
		attempt(i);
	}
	assert_string_equal(fixture_text("SELECT state FROM outbox"), "failed");
	assert_int_equal(fixture_number("SELECT next_at FROM outbox"), 0);
}

static void test_a_deleted_receiver_gets_one_request(void **state)
{
	(void)state;
	start_scripted();
	scripted[0] = ANSWER("410 Gone", "");
	attempt(1);
	assert_string_equal(fixture_text("SELECT state FROM outbox"), "failed");
	assert_int_equal(n_requests, 1);
}

/* A receiver that accepts the connection and never answers. */
static void test_a_receiver_that_stalls_is_tried_later(void **state)
{
	(void)state;
	assert_int_equal(listen(listen_anywhere(), 4), 0); /* the kernel accepts, nobody reads */
	notify = sender_start(loop, config, &txn);
	enqueue("chat");
	sender_wake(notify);
	fixture_until("SELECT count(*) FROM outbox WHERE attempts = 1 AND state = 'waiting'");
	assert_int_equal(fixture_number("SELECT status FROM outbox_attempt"), 0);
	assert_string_not_equal(fixture_text("SELECT last_error FROM outbox"), "");
}

static const char *refusal; /* body of the forge's answers */

/* A forge on loopback that answers 400 to every status. */
static void refuse_one(void *arg, uint32_t events)
{
	char request[4096], answer[512];
	(void)arg;
	(void)events;
	int fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_true(read(fd, request, sizeof request) > 0);
	int n = snprintf(answer, sizeof answer,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		strlen(refusal), refusal);
	assert_int_equal(write(fd, answer, (size_t)n), n);
	close(fd);
}

static void enqueue_status(const char *state)
{
	char payload[200];
	snprintf(payload, sizeof payload,
		"{\"sha\":\"%040d\",\"state\":\"%s\",\"context\":\"flopwatch\",\"description\":\"\",\"page\":\"\"}", 7, state);
	ok(db_begin(db, &err));
	ok(store_outbox_insert(db, "status", "far", payload, clock_utc_ms(), &err));
	ok(db_commit(db, &err));
}

/* GitLab answers 400 to a second pending status of a commit. Another state or reason is a failure. */
static void test_a_second_pending_status_of_gitlab(void **state)
{
	(void)state;
	assert_int_equal(listen(listen_anywhere(), 4), 0);
	struct config_repo *r = &config->repo[config->n_repos++];
	snprintf(r->name, sizeof r->name, "far");
	snprintf(r->status.kind, sizeof r->status.kind, "gitlab");
	snprintf(r->status.api, sizeof r->status.api, "%.*s", (int)(strlen(config->webhook[0].url) - strlen("/hook")),
		config->webhook[0].url);
	snprintf(r->status.project, sizeof r->status.project, "a/b");
	snprintf(r->status.token, sizeof r->status.token, "secret");
	r->status.allow_internal = true;
	ok(loop_watch(loop, listener, EPOLLIN, refuse_one, NULL, NULL, &err));
	refusal = "{\"message\":\"Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition)\"}";
	enqueue_status("pending");
	notify = sender_start(loop, config, &txn);
	fixture_until("SELECT count(*) FROM outbox WHERE state = 'sent'");
	enqueue_status("failure");
	sender_wake(notify);
	fixture_until("SELECT count(*) FROM outbox WHERE attempts = 1 AND state = 'waiting'");
	assert_non_null(strstr(fixture_text("SELECT last_error FROM outbox WHERE state = 'waiting'"), "400"));
	assert_int_equal(fixture_number("SELECT count(*) FROM outbox_attempt WHERE answer <> ''"), 0);
	refusal = "{\"message\":\"ref does not match the pipeline\"}";
	enqueue_status("running");
	sender_wake(notify);
	fixture_until("SELECT count(*) FROM outbox WHERE payload ->> 'state' = 'running' AND attempts > 0 AND state = 'waiting'");
}

static int compare_bytes(void *arg, int n, const void *a, int m, const void *b)
{
	(void)arg;
	int order = memcmp(a, b, (size_t)(n < m ? n : m));
	return order ? order : n - m;
}

/* The daemon's connection cannot compare threads: it does not have the collation of their column. */
static void make_threads_unreadable(void)
{
	char path[PATH_MAX];
	sqlite3 *other = NULL;
	snprintf(path, sizeof path, "%s", fixture_text("SELECT file FROM pragma_database_list WHERE name = 'main'"));
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_create_collation(other, "unknown", SQLITE_UTF8, NULL, compare_bytes), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other,
				 "DROP INDEX outbox_thread; ALTER TABLE outbox DROP COLUMN thread; "
				 "ALTER TABLE outbox ADD COLUMN thread TEXT COLLATE unknown NOT NULL DEFAULT 'k aa'",
				 NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void test_a_group_that_cannot_be_read_is_tried_later(void **state)
{
	(void)state;
	config->webhook[0].kind = RECEIVER_SLACK;
	enqueue("chat");
	make_threads_unreadable();
	notify = sender_start(loop, config, &txn);
	fixture_until("SELECT count(*) FROM outbox WHERE attempts = 1 AND state = 'waiting'");
	assert_true(fixture_number("SELECT next_at - created_at FROM outbox") >= 3750);
	assert_int_equal(fixture_number("SELECT count(*) FROM outbox_attempt"), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_pauses_grow_and_end),
		CASE(test_a_notification_arrives),
		CASE(test_a_receiver_that_is_not_there_is_tried_later),
		CASE(test_a_receiver_that_was_removed),
		CASE(test_each_failure_is_tried_again),
		CASE(test_a_receiver_that_always_fails_is_given_up),
		CASE(test_a_deleted_receiver_gets_one_request),
		CASE(test_a_receiver_that_stalls_is_tried_later),
		CASE(test_a_second_pending_status_of_gitlab),
		CASE(test_a_group_that_cannot_be_read_is_tried_later),
	};
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
