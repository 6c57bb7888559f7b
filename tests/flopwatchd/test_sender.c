/* The outbox: growing pauses, unreachable receivers, delivered notifications. */
/* Left to `make check`: starts our programs. */
#include "fixture_daemon.h"

#include <arpa/inet.h>
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_pauses_grow_and_end),
		CASE(test_a_notification_arrives),
		CASE(test_a_receiver_that_is_not_there_is_tried_later),
		CASE(test_a_receiver_that_was_removed),
	};
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
