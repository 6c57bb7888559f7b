/* Monitoring and backup over HTTP: health, counts, events, and the backup. */
#include "site_fill.h"

static void test_health_and_metrics(void **state)
{
	struct run *run = *state;
	fill(run);
	struct answer a = get(run, "/healthz");
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "ok\n");
	answer_free(&a);
	ok(store_outbox_insert(run->f->db, "note", "kernels", "{}", 1, &err));
	int64_t note = fixture_number(run->f, "SELECT max(id) FROM outbox");
	for (int i = 1; i <= STORE_OUTBOX_STUCK; i++) {
		a = get(run, "/healthz");
		assert_string_equal(a.body, "ok\n");
		answer_free(&a);
		ok(store_outbox_result(run->f->db, note, &(struct store_attempt){ i, 1, 0, "locked", NULL }, 9000, &err));
	}
	a = get(run, "/healthz");
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "ok\nwarning: 1 notifications failed 5 times or more; see /notifications\n");
	answer_free(&a);
	a = get(run, "/metrics");
	assert_string_equal(header_of(&a, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
	assert_non_null(strstr(a.body, "# TYPE flopwatch_jobs gauge\n"));
	assert_non_null(strstr(a.body, "flopwatch_jobs{state=\"done\"} 2\n"));
	assert_non_null(strstr(a.body, "flopwatch_comparisons{verdict=\"regression\"} 1\n"));
	assert_non_null(strstr(a.body, "flopwatch_alerts{state=\"open\"} 1\n"));
	answer_free(&a);
	run->requested.refuse = (struct fw_err){ .code = ERR_FULL, .text = "the disk is full" };
	a = get(run, "/healthz");
	assert_string_equal(header_of(&a, "Retry-After"), "5");
	assert_problem(a, 503, "the disk is full");
}

static void test_events(void **state)
{
	struct run *run = *state;
	char text[8192] = "";
	size_t len = 0;
	ok(db_begin(run->f->db, &err));
	for (int i = 1; i <= 3; i++)
		ok(store_event(run->f->db, 1000, "job.queued", "{\"job\":1}", NULL, &err));
	ok(db_commit(run->f->db, &err));
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)http_port(run->http)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	char request[256];
	snprintf(request, sizeof request, "GET /api/v1/events HTTP/1.1\r\nHost: localhost:%d\r\nLast-Event-ID: 1\r\n\r\n",
		http_port(run->http));
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	bool reported = false;
	for (int64_t end_ns = clock_mono_ns() + INT64_C(120000000000); clock_mono_ns() < end_ns && !strstr(text, "id: 4\n");) {
		http_run(run->http);
		ssize_t n = recv(fd, text + len, sizeof text - 1 - len, MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
		text[len] = '\0';
		if (!reported && strstr(text, "id: 3\n")) {
			ok(db_begin(run->f->db, &err));
			ok(store_event(run->f->db, 2000, "job.done", "{\"job\":1}", NULL, &err));
			ok(db_commit(run->f->db, &err));
			http_notify(run->http);
			reported = true;
		}
		poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 1);
	}
	close(fd);
	assert_non_null(strstr(text, "Content-Type: text/event-stream"));
	assert_non_null(strstr(text, "retry: 3000"));
	assert_null(strstr(text, "id: 1\n"));
	assert_non_null(strstr(text, "id: 2\nevent: job.queued\ndata: {\"job\":1}\n\n"));
	assert_non_null(strstr(text, "id: 4\nevent: job.done\n"));
}

/* Requests a backup and serves until the daemon received it. Own: the caller's connection, which has no data yet. */
static int begin_backup(struct run *run)
{
	char request[128], byte;
	int fd = dial(run);
	int len = snprintf(request, sizeof request,
		"POST /api/v1/backup HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", http_port(run->http));
	assert_true(poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 20000) == 1);
	assert_int_equal(send(fd, request, (size_t)len, 0), len);
	while (!run->requested.what[0])
		http_run(run->http);
	assert_string_equal(run->requested.what, "backup\n");
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	return fd;
}

static void test_backup(void **state)
{
	struct run *run = *state;
	fill(run);
	/* while it is made other clients are answered, and the client that waits for it is not, whatever events happen */
	int fd = begin_backup(run);
	http_notify(run->http);
	struct answer a = get(run, "/healthz");
	assert_int_equal(a.status, 200);
	answer_free(&a);
	run->requested.refuse = (struct fw_err){ .code = ERR_CONFLICT, .text = "one is being made" };
	assert_problem(request_with(run, "POST", "/api/v1/backup", "", "", 0), 409, "one is being made");
	run->requested.refuse.code = ERR_NONE;
	char byte;
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
	ok(db_backup(run->f->db, run->requested.backup, &err));
	run->requested.backup_is_whole = true;
	http_notify(run->http);
	a = request_on(run, fd, "", 0);
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Content-Type"), "application/vnd.sqlite3");
	assert_string_equal(run->requested.what, "backup\nbackup\nbackup over\n");
	char path[160];
	snprintf(path, sizeof path, "%s/copy.db", run->f->folder);
	FILE *file = fopen(path, "w");
	assert_int_equal(fwrite(a.body, 1, a.body_len, file), a.body_len);
	fclose(file);
	answer_free(&a);
	struct fixture copy = *run->f;
	ok(db_open(path, true, &copy.db, &err));
	ok(db_check(copy.db, &err));
	assert_int_equal(fixture_number(&copy, "SELECT count(*) FROM comparison"), 2);
	db_close(copy.db);
}

static void test_backup_that_fails(void **state)
{
	struct run *run = *state;
	int fd = begin_backup(run);
	run->requested.refuse = (struct fw_err){ .code = ERR_FULL, .text = "the disk is full" };
	http_notify(run->http);
	assert_problem(request_on(run, fd, "", 0), 503, "the disk is full");
	assert_string_equal(run->requested.what, "backup\nbackup over\n");
}

static void test_backup_without_a_waiting_client(void **state)
{
	struct run *run = *state;
	close(begin_backup(run));
	for (int64_t end_ns = clock_mono_ns() + INT64_C(120000000000);
		!strstr(run->requested.what, "over") && clock_mono_ns() < end_ns;)
		poll(NULL, 0, http_run(run->http) ? 10 : 0);
	assert_string_equal(run->requested.what, "backup\nbackup over\n");
}

static void test_backup_when_the_daemon_ends(void **state)
{
	struct run *run = *state;
	char text[4096] = "";
	int fd = begin_backup(run);
	run->requested.refuse = (struct fw_err){ .code = ERR_BUSY, .text = "it is stopping" };
	http_stop(run->http);
	run->http = NULL;
	assert_true(recv(fd, text, sizeof text - 1, 0) > 0);
	assert_non_null(strstr(text, "HTTP/1.1 503 "));
	assert_non_null(strstr(text, "it is stopping"));
	close(fd);
	/* and if there is nothing to send, no client waits any more */
	ok(site_start(&run->site, "127.0.0.1", 0, &run->http, &err));
	run->requested.refuse.code = ERR_NONE;
	run->requested.what[0] = '\0';
	fd = begin_backup(run);
	http_stop(run->http);
	run->http = NULL;
	assert_string_equal(run->requested.what, "backup\nbackup over\n");
	close(fd);
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(test_health_and_metrics),
		SITE_TEST(test_events),
		SITE_TEST(test_backup),
		SITE_TEST(test_backup_that_fails),
		SITE_TEST(test_backup_without_a_waiting_client),
		SITE_TEST(test_backup_when_the_daemon_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
