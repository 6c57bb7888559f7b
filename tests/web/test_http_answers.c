/* What the server adds to an answer, by real sockets: a tag, compression, what is left of the limit; HEAD of a stream. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/lib.h"
#include "web/http/http.h"

enum { LIMIT = 5, ROWS = 20000, ANSWER_MAX = 4 << 20 };

static struct http *http;
static int rows = ROWS, streams;
static char text[ANSWER_MAX];
static size_t text_len;

static void write_rows(struct buf *out)
{
	for (int i = 0; i < rows; i++)
		buf_printf(out, "row %d of a list, %d\n", i, i * 7919 % 10007);
}

static int list(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "application/json; charset=utf-8";
	write_rows(&response->body);
	return 0;
}

static int strong(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	snprintf(response->etag, sizeof response->etag, "\"strong\"");
	return list(site, r, response, err);
}

static int secret(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	response->cache = "no-store";
	return list(site, r, response, err);
}

static int session(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	snprintf(response->cookie, sizeof response->cookie, "a=b");
	return list(site, r, response, err);
}

static int archive(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int result = list(site, r, response, err);
	response->type = "application/zstd";
	return result;
}

static void fill(struct site *site, int64_t *cursor, struct buf *out)
{
	(void)site;
	streams++;
	if (*cursor == 0)
		buf_printf(out, "data: %lld\n\n", (long long)++*cursor);
}

static int events(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "text/event-stream";
	response->stream = fill;
	return 0;
}

static int refuse(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "text/plain";
	buf_printf(&response->body, "refused %d", response->status);
	return 0;
}

/* The only token is "t". */
static bool guard(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope)
{
	const char *token = http_header(r, "Authorization");
	(void)site, (void)scope;
	if (token && strcmp(token, "t") == 0) {
		http_set_who(r, "ci");
		return true;
	}
	response->status = token ? 401 : 200;
	return !token;
}

static int set_up(void **state)
{
	(void)state;
	static const struct http_route routes[] = {
		{ "GET", "/list", list, HTTP_READ, NULL, NULL },
		{ "POST", "/list", list, HTTP_READ, NULL, NULL },
		{ "GET", "/strong", strong, HTTP_READ, NULL, NULL },
		{ "GET", "/secret", secret, HTTP_READ, NULL, NULL },
		{ "GET", "/session", session, HTTP_READ, NULL, NULL },
		{ "GET", "/archive", archive, HTTP_READ, NULL, NULL },
		{ "GET", "/events", events, HTTP_READ, NULL, NULL },
		{ "GET", "/open", list, HTTP_OPEN, NULL, NULL },
	};
	struct http_config config = { .host = "127.0.0.1",
		.route = routes,
		.n_route = sizeof routes / sizeof routes[0],
		.no_route = refuse,
		.guard = guard,
		.requests_per_minute = LIMIT };
	struct fw_err err = { 0 };
	rows = ROWS;
	return http_start(&config, &http, &err);
}

static int tear_down(void **state)
{
	(void)state;
	http_stop(http);
	return 0;
}

static const char *host; /* of the header Host; NULL: the server's */

/* Send a request with further header lines; returns the answer, which ends with the connection, as text[text_len]. */
static const char *ask(const char *method, const char *path, const char *headers)
{
	char raw[1024], own[32];
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(http)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	snprintf(own, sizeof own, "127.0.0.1:%d", http_port(http));
	int len = snprintf(raw, sizeof raw, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", method, path,
		host ? host : own, headers);
	assert_int_equal(send(fd, raw, (size_t)len, MSG_NOSIGNAL), len);
	text_len = 0;
	for (int64_t end_ns = clock_mono_ns() + INT64_C(20000000000); clock_mono_ns() < end_ns;) {
		http_run(http);
		ssize_t n = recv(fd, text + text_len, sizeof text - 1 - text_len, MSG_DONTWAIT);
		if (n == 0)
			break;
		text_len += n > 0 ? (size_t)n : 0;
		if (n < 0)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 5);
	}
	text[text_len] = '\0';
	close(fd);
	return text;
}

static int status_of(const char *answer)
{
	int status = 0;
	return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* The value of a header of the last answer; "" absent. */
static const char *header(const char *name)
{
	static char value[256];
	char line[64];
	snprintf(line, sizeof line, "\r\n%s: ", name);
	const char *head_end = strstr(text, "\r\n\r\n"), *at = strstr(text, line);
	value[0] = '\0';
	if (at && at < head_end)
		snprintf(value, sizeof value, "%.*s", (int)strcspn(at + strlen(line), "\r"), at + strlen(line));
	return value;
}

/* Decode a chunked body of gzip; returns whether it is the list. */
static bool is_packed_list(void)
{
	struct buf packed, plain;
	buf_init(&packed, ANSWER_MAX);
	buf_init(&plain, ANSWER_MAX);
	write_rows(&plain);
	for (const char *at = strstr(text, "\r\n\r\n") + 4; at < text + text_len;) {
		char *end;
		size_t n = strtoul(at, &end, 16);
		if (n == 0)
			break;
		buf_append(&packed, end + 2, n);
		at = end + 2 + n + 2;
	}
	unsigned char *out = mem_alloc(ANSWER_MAX);
	z_stream z = { .next_in = (Bytef *)packed.data, .avail_in = (uInt)packed.len, .next_out = out, .avail_out = ANSWER_MAX };
	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	bool is_whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == plain.len;
	bool same = is_whole && memcmp(out, plain.data, plain.len) == 0 && packed.len < plain.len / 2;
	inflateEnd(&z);
	free(out);
	buf_fini(&packed);
	buf_fini(&plain);
	return same;
}

static void test_tag(void **state)
{
	(void)state;
	char tag[96], known[160];
	ask("GET", "/list", "");
	snprintf(tag, sizeof tag, "%s", header("ETag"));
	assert_int_equal(strncmp(tag, "W/\"", 3), 0);
	snprintf(known, sizeof known, "If-None-Match: \"other\", %s\r\n", tag);
	assert_int_equal(status_of(ask("GET", "/list", known)), 304);
	assert_string_equal(header("ETag"), tag);
	assert_null(strstr(text, "row 0"));
	assert_int_equal(status_of(ask("HEAD", "/list", known)), 304);
	snprintf(known, sizeof known, "If-None-Match: %s\r\n", tag + 2); /* a proxy removed the W/ */
	assert_int_equal(status_of(ask("GET", "/list", known)), 304);
	rows--;
	assert_int_equal(status_of(ask("GET", "/list", known)), 200);
	assert_string_not_equal(header("ETag"), tag);
	ask("GET", "/secret", "");
	assert_string_equal(header("ETag"), "");
	ask("POST", "/list", "Content-Length: 0\r\n");
	assert_string_equal(header("ETag"), "");
}

static void test_compression(void **state)
{
	(void)state;
	static const char gzip[] = "Accept-Encoding: br, gzip;q=0.5\r\n";
	assert_int_equal(status_of(ask("GET", "/list", gzip)), 200);
	assert_string_equal(header("Content-Encoding"), "gzip");
	assert_non_null(strstr(header("Vary"), "Accept-Encoding"));
	assert_true(is_packed_list());
	ask("GET", "/strong", gzip);
	assert_string_equal(header("ETag"), "W/\"strong\"");
	assert_true(is_packed_list());
	assert_int_equal(status_of(ask("GET", "/strong", "Accept-Encoding: gzip\r\nIf-None-Match: W/\"strong\"\r\n")), 304);
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	assert_string_equal(header("Content-Length"), "");
	ask("HEAD", "/list", gzip);
	assert_string_equal(header("Content-Encoding"), "gzip");
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
}

/* Not asked for, too small, not a text, or an answer with a secret, whose length would tell about it. */
static void test_no_compression(void **state)
{
	(void)state;
	static const struct {
		const char *method, *path, *headers;
		int rows;
	} cases[] = { { "GET", "/list", "", ROWS }, { "GET", "/list", "Accept-Encoding: br\r\n", ROWS },
		{ "GET", "/list", "Accept-Encoding: gzip;q=0, *\r\n", ROWS }, { "GET", "/list", "Accept-Encoding: gzip\r\n", 20 },
		{ "GET", "/secret", "Accept-Encoding: gzip\r\n", ROWS }, { "GET", "/session", "Accept-Encoding: gzip\r\n", ROWS },
		{ "GET", "/archive", "Accept-Encoding: gzip\r\n", ROWS },
		{ "POST", "/list", "Accept-Encoding: gzip\r\nContent-Length: 0\r\n", ROWS } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		rows = cases[i].rows;
		assert_int_equal(status_of(ask(cases[i].method, cases[i].path, cases[i].headers)), 200);
		assert_string_equal(header("Content-Encoding"), "");
		assert_non_null(strstr(text, "row 19 of a list"));
	}
	ask("GET", "/list", "Accept-Encoding: *\r\n");
	assert_string_equal(header("Content-Encoding"), "gzip");
}

static void test_limit(void **state)
{
	(void)state;
	static const char one[] = "X-Forwarded-For: 192.0.2.1\r\n";
	rows = 1;
	for (int i = 0; i < LIMIT; i++) {
		assert_int_equal(status_of(ask("GET", "/list", one)), 200);
		assert_string_equal(header("RateLimit-Limit"), "5");
		assert_int_equal(atoi(header("RateLimit-Remaining")), LIMIT - 1 - i);
		assert_string_equal(header("Retry-After"), "");
	}
	assert_int_equal(status_of(ask("POST", "/list", "X-Forwarded-For: 192.0.2.1\r\nContent-Length: 0\r\n")), 429);
	assert_string_equal(header("RateLimit-Remaining"), "0");
	int wait_s = atoi(header("Retry-After"));
	assert_true(wait_s > 0 && wait_s <= 60);
	assert_int_equal(status_of(ask("GET", "/open", one)), 200);
	assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.2\r\n")), 200);
	/* a token has a limit of its own at every address, a wrong one that of the address */
	for (int i = 0; i < LIMIT; i++) {
		assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.1\r\nAuthorization: t\r\n")), 200);
		assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.3\r\nAuthorization: x\r\n")), 401);
	}
	assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.4\r\nAuthorization: t\r\n")), 429);
	assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.3\r\nAuthorization: x\r\n")), 429);
	/* a write is refused before its body: those with a wrong token are counted, too */
	for (int i = 0; i <= LIMIT; i++)
		assert_int_equal(status_of(ask("POST", "/list",
					 "X-Forwarded-For: 192.0.2.6\r\nAuthorization: x\r\nContent-Length: 0\r\n")),
			i < LIMIT ? 401 : 429);
	assert_true(atoi(header("Retry-After")) > 0);
	assert_int_equal(status_of(ask("GET", "/list", "X-Forwarded-For: 192.0.2.6\r\n")), 429);
	/* answers without a handler: no such address, no such method, another name in the header Host */
	static const struct {
		const char *method, *path, *host, *headers;
		int status;
	} refused[] = { { "GET", "/nowhere", NULL, "X-Forwarded-For: 192.0.2.7\r\n", 404 },
		{ "POST", "/open", NULL, "X-Forwarded-For: 192.0.2.8\r\nContent-Length: 0\r\n", 405 },
		{ "GET", "/list", "evil.example.org", "X-Forwarded-For: 192.0.2.9\r\n", 421 } };
	for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
		host = refused[k].host;
		for (int i = 0; i <= LIMIT; i++)
			assert_int_equal(status_of(ask(refused[k].method, refused[k].path, refused[k].headers)),
				i < LIMIT ? refused[k].status : 429);
		assert_true(atoi(header("Retry-After")) > 0);
		host = NULL;
		assert_int_equal(status_of(ask("GET", "/list", refused[k].headers)), 429);
		assert_int_equal(status_of(ask("GET", "/nowhere", "")), 404); /* a program of this machine */
	}
	/* a proxy that adds a line of its own: the client wrote the first one */
	for (int i = 0; i <= LIMIT; i++) {
		char two[128];
		snprintf(two, sizeof two, "X-Forwarded-For: 10.0.0.%d\r\nX-Forwarded-For: 192.0.2.5\r\n", i);
		assert_int_equal(status_of(ask("GET", "/list", two)), i < LIMIT ? 200 : 429);
	}
	/* programs of this machine have none, with and without a token */
	for (int i = 0; i < 2 * LIMIT; i++) {
		assert_int_equal(status_of(ask("GET", "/list", "")), 200);
		assert_string_equal(header("RateLimit-Limit"), "");
		assert_int_equal(status_of(ask("GET", "/list", "Authorization: t\r\n")), 200);
	}
}

static void test_head_of_stream(void **state)
{
	(void)state;
	int64_t begin_ns = clock_mono_ns();
	streams = 0;
	assert_int_equal(status_of(ask("HEAD", "/events", "Accept-Encoding: gzip\r\n")), 200);
	assert_string_equal(header("Content-Type"), "text/event-stream");
	assert_string_equal(header("Content-Encoding"), "");
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	assert_int_equal(streams, 0);
	assert_true(clock_mono_ns() - begin_ns < INT64_C(10000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tag, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_compression, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_compression, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_head_of_stream, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
