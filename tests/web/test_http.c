/* The folder http by real sockets: every request here goes through the kernel's loopback. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/lib.h"
#include "web/http/http.h"
#include "web/http/internal.h"

static struct http *http;
static int streams_filled;

static int hello(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	const char *name = http_query(r, "name");
	response->type = "text/plain";
	snprintf(response->etag, sizeof response->etag, "\"one\"");
	buf_printf(&response->body, "hello %s", name ? name : "nobody");
	return 0;
}

static int echo(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	size_t len;
	const char *body = http_body(r, &len);
	const char *field = http_form(r, "a");
	response->type = "text/plain";
	buf_printf(&response->body, "%zu bytes, id %s, a=%s", len, http_segment(r, 0), field ? field : "-");
	assert_true(body[len] == '\0');
	return 0;
}

static int export(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	response->type = "text/csv";
	buf_printf(&response->body, "export of %s", http_segment(r, 0));
	return 0;
}

static int one(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	response->type = "text/plain";
	buf_printf(&response->body, "one %s", http_segment(r, 0));
	return 0;
}

static void fill(struct site *site, int64_t *cursor, struct buf *out)
{
	(void)site;
	while (*cursor < streams_filled)
		buf_printf(out, "data: %lld\n\n", (long long)++*cursor);
}

static int events(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "text/event-stream";
	response->stream = fill;
	return 0;
}

static int empty(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "text/plain";
	return 0;
}

static int at_last(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	if (response)
		buf_printf(&response->body, "logged in %d, %d alerts", response->logged_in, response->open_alerts);
	return 0;
}

static int deferred(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->later = at_last;
	return 0;
}

enum { LARGE = 16 << 20 };

static int large(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	char line[4096];
	memset(line, 'x', sizeof line);
	response->type = "text/plain";
	while (response->body.len < LARGE)
		buf_append(&response->body, line, sizeof line);
	return 0;
}

static int refuse(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	response->type = "text/plain";
	buf_printf(&response->body, "refused %d", response->status);
	return 0;
}

/* No token has the scope that writing requires. */
static bool guard(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope)
{
	(void)site;
	if (http_header(r, "X-Token"))
		http_set_who(r, http_header(r, "X-Token"));
	response->status = scope == HTTP_ADMIN ? 401 : 200;
	response->logged_in = response->is_private = true;
	response->open_alerts = 3;
	buf_printf(&response->body, "guarded");
	return scope != HTTP_ADMIN;
}

static int set_up(void **state)
{
	(void)state;
	static const struct http_route routes[] = {
		{ "GET", "/hello", hello, HTTP_OPEN, "name", NULL },
		{ "POST", "/things/{id}/echo", echo, HTTP_OPEN, NULL, NULL },
		{ "GET", "/things/{id}.csv", export, HTTP_OPEN, NULL, NULL },
		{ "GET", "/things/{id}", one, HTTP_OPEN, NULL, NULL },
		{ "GET", "/events", events, HTTP_OPEN, NULL, NULL },
		{ "GET", "/empty", empty, HTTP_OPEN, NULL, NULL },
		{ "POST", "/guarded", echo, HTTP_ADMIN, NULL, NULL },
		{ "GET", "/large", large, HTTP_OPEN, NULL, NULL },
		{ "POST", "/upload", echo, HTTP_OPEN, NULL, NULL },
		{ "POST", "/read/upload", echo, HTTP_READ, NULL, NULL },
		{ "GET", "/deferred", deferred, HTTP_READ, NULL, NULL },
		{ "GET", "/read/events", events, HTTP_READ, NULL, NULL },
	};
	static const char *const uploads[] = { "/upload", "/read/upload", NULL };
	struct http_config config = { .host = "127.0.0.1",
		.route = routes,
		.n_route = sizeof routes / sizeof routes[0],
		.no_route = refuse,
		.guard = guard,
		.uploads = uploads };
	struct fw_err err = { 0 };
	return http_start(&config, &http, &err);
}

static int tear_down(void **state)
{
	(void)state;
	http_stop(http);
	return 0;
}

static int dial(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(http)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

/* Serve until `fd` has an answer that contains `until`, or the peer closes; fails after two minutes. Shape: text[size]. */
static void serve(int fd, const char *until, char *text, size_t size)
{
	size_t len = 0;
	int64_t end_ns = clock_mono_ns() + INT64_C(120000000000);
	while (clock_mono_ns() < end_ns && len + 1 < size) {
		http_run(http);
		ssize_t n = recv(fd, text + len, size - 1 - len, MSG_DONTWAIT);
		if (n == 0)
			break;
		if (n > 0)
			len += (size_t)n;
		text[len] = '\0';
		if (n > 0 && until && strstr(text, until))
			break;
		if (n < 0)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 5);
	}
	text[len] = '\0';
}

/* One request on a new connection; `$` in it is replaced by the right Host line. */
static const char *ask(const char *request)
{
	static char text[65536];
	char raw[16384];
	const char *dollar = strchr(request, '$');
	if (dollar)
		snprintf(raw, sizeof raw, "%.*sHost: 127.0.0.1:%d%s", (int)(dollar - request), request, http_port(http),
			dollar + 1);
	else
		snprintf(raw, sizeof raw, "%s", request);
	int fd = dial();
	assert_int_equal(send(fd, raw, strlen(raw), MSG_NOSIGNAL), strlen(raw));
	shutdown(fd, SHUT_WR);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	return text;
}

static int status_of(const char *answer)
{
	int status = 0;
	return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

static void test_routes(void **state)
{
	(void)state;
	const char *a = ask("GET /hello?name=a%2Fb+c HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n");
	assert_int_equal(status_of(a), 200);
	assert_non_null(strstr(a, "hello a/b c"));
	assert_non_null(strstr(a, "X-Content-Type-Options: nosniff"));
	assert_non_null(strstr(a, "Content-Security-Policy: default-src 'none'"));
	assert_non_null(strstr(a, "Cross-Origin-Opener-Policy: same-origin\r\n"));
	assert_non_null(strstr(a, "Cross-Origin-Resource-Policy: same-origin\r\n"));
	assert_non_null(strstr(a, "Cache-Control: no-cache\r\n"));
	assert_non_null(strstr(ask("GET /things/17.csv HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n"), "export of 17"));
	assert_non_null(strstr(ask("GET /things/17 HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n"), "one 17"));
	a = ask("POST /things/9/echo HTTP/1.1\r\n$\r\nConnection: close\r\nContent-Length: 7\r\n\r\na=1%20x");
	assert_non_null(strstr(a, "7 bytes, id 9, a=1 x"));
}

static void test_no_route(void **state)
{
	(void)state;
	assert_int_equal(status_of(ask("GET /other HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 404);
	const char *a = ask("POST /hello HTTP/1.1\r\n$\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(status_of(a), 405);
	assert_non_null(strstr(a, "Allow: GET, HEAD"));
	assert_int_equal(status_of(ask("DELETE /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 405);
	assert_non_null(strstr(ask("PUT /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n"), "Allow: GET, HEAD\r\n"));
	assert_int_equal(status_of(ask("PUT /other HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 404);
	assert_int_equal(status_of(ask("TRACE /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 405);
}

static void test_head_and_not_modified(void **state)
{
	(void)state;
	const char *a = ask("HEAD /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n");
	assert_int_equal(status_of(a), 200);
	assert_null(strstr(a, "hello nobody"));
	a = ask("GET /hello HTTP/1.1\r\n$\r\nIf-None-Match: \"one\"\r\nConnection: close\r\n\r\n");
	assert_int_equal(status_of(a), 304);
	assert_null(strstr(a, "hello nobody"));
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\n$\r\nIf-None-Match: \"two\"\r\nConnection: close\r\n\r\n")), 200);
}

static void test_host(void **state)
{
	(void)state;
	static const char *const hosts[] = { "evil.example", "localhost.evil:80", "127.0.0.1", "127.0.0.1:1",
		"127.0.0.1.nip.io:8451", "[::1]", "" };
	char request[256];
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", hosts[i]);
		assert_int_equal(status_of(ask(request)), 421);
	}
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\n$\r\nHost: evil\r\nConnection: close\r\n\r\n")), 400);
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n")), 400);
}

/* A listener of all addresses has the names of this machine, its own and the configured ones, each with its port. */
static void test_host_of_all_addresses(void **state)
{
	(void)state;
	static const char *const own[] = { "127.0.0.1", "localhost", "LOCALHOST", "[::1]", "0.0.0.0" };
	static const char *const names[] = { "gpu1.example.org", "gpu2.example.org:8443", NULL };
	static const struct http_route route = { "GET", "/hello", hello, HTTP_OPEN, NULL, NULL };
	struct http_config config = { .host = "0.0.0.0", .route = &route, .n_route = 1, .no_route = refuse, .names = names };
	struct http *before = http;
	struct fw_err err = { 0 };
	char request[256];
	assert_int_equal(http_start(&config, &http, &err), 0);
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		for (int is_whole = 0; is_whole < 2; is_whole++) {
			int len = snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: %s", own[i]);
			if (is_whole)
				len += snprintf(request + len, sizeof request - (size_t)len, ":%d", http_port(http));
			snprintf(request + len, sizeof request - (size_t)len, "\r\nConnection: close\r\n\r\n");
			assert_int_equal(status_of(ask(request)), is_whole ? 200 : 421);
		}
	for (int i = 0; i < 2; i++) {
		snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", names[i]);
		assert_int_equal(status_of(ask(request)), 200);
	}
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\nHost: gpu2.example.org\r\nConnection: close\r\n\r\n")), 421);
	http_stop(http);
	http = before;
}

/* A request of bytes, sent in pieces; ~ is replaced by a zero byte, `$` as in ask(). */
static int status_of_bytes(const char *request, size_t piece)
{
	static char raw[65536], text[65536];
	const char *dollar = strchr(request, '$');
	size_t len = (size_t)snprintf(
		raw, sizeof raw, "%.*s127.0.0.1:%d%s", (int)(dollar - request), request, http_port(http), dollar + 1);
	assert_true(len < sizeof raw);
	for (size_t i = 0; i < len; i++)
		if (raw[i] == '~')
			raw[i] = '\0';
	int fd = dial();
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		if (send(fd, raw + at, n, MSG_NOSIGNAL) < 0)
			break; /* the server closed the connection, which `text` shows */
		http_run(http);
	}
	shutdown(fd, SHUT_WR);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	return text[0] ? status_of(text) : 400; /* closed, as libmicrohttpd does if a line is invalid */
}

static void test_zero_bytes_in_headers(void **state)
{
	(void)state;
	static const char *const hidden[] = {
		"Host: $~.evil.example\r\n\r\n",
		"Host: $~.evil.example\r\nConnection: close\r\n\r\n",
		"Connection: close\r\nHost: $~.evil.example\r\n\r\n",
		"Host: $~\r\nConnection: close\r\n\r\n",
		"Host: $~~~~\r\n\r\n",
		"Host: $~x\n\n",
		"Host: $~x\nConnection: close\n\n",
		"Host: $\r\nX-One: a~b\r\n\r\n",
		"Host: $\r\nX-One: a~b\r\nX-Two: c\r\n\r\n",
		"Host: $\r\nX-One: ~b\r\nX-Two: c\r\n\r\n",
		"Host: $\r\nX-One:  ~ b\r\n\r\n",
		"Host: $\r\nX~-One: b\r\n\r\n",
		"Host: $\r\n~X-One: b\r\n\r\n",
		"Host: $\r\nCookie: a~b\r\n\r\n",
		"Host: $\r\nAuthorization: Bearer a~b\r\n\r\n",
	};
	static const char *const plain[] = {
		"Host: $\r\n\r\n",
		"Host: $\n\n",
		"Host:$\r\nX-Empty:\r\nX-Blank: \t \r\nX-End: a \r\n\r\n",
		"X-One: a\nHost: \t $\nX-Two: b\n\r\n",
	};
	char request[512];
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
		for (size_t piece = 1; piece < 1000; piece *= 7) {
			snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nConnection: close\r\n%s", hidden[i]);
			assert_int_equal(status_of_bytes(request, piece), 400);
		}
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		for (size_t piece = 1; piece < 1000; piece *= 7) {
			snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nConnection: close\r\n%s", plain[i]);
			assert_int_equal(status_of_bytes(request, piece), 200);
		}
}

/* Headers that require a larger buffer, and several requests on one connection. */
static void test_long_headers_hide_no_later_header(void **state)
{
	(void)state;
	static char request[40000], filler[12001];
	memset(filler, 'x', sizeof filler - 1);
	for (size_t piece = 100; piece < 40000; piece *= 3) {
		snprintf(request, sizeof request,
			"GET /hello HTTP/1.1\r\nX-One: %s\r\nHost: $\r\nX-Two: %s\r\nConnection: close\r\n\r\n", filler, filler);
		assert_int_equal(status_of_bytes(request, piece), 200);
		snprintf(request, sizeof request,
			"GET /hello HTTP/1.1\r\nX-One: %s\r\nHost: $\r\nX-Two: %s~\r\nConnection: close\r\n\r\n", filler, filler);
		assert_int_equal(status_of_bytes(request, piece), 400);
	}
	char raw[1024], text[65536];
	int n = snprintf(raw, sizeof raw, "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	n += snprintf(raw + n, sizeof raw - (size_t)n, "GET /hello HTTP/1.1\r\nX-One: a\r\nHost: 127.0.0.1:%d\r\n\r\n",
		http_port(http));
	n += snprintf(raw + n, sizeof raw - (size_t)n, "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n",
		http_port(http));
	int fd = dial(), answers = 0;
	assert_int_equal(send(fd, raw, (size_t)n, MSG_NOSIGNAL), n);
	shutdown(fd, SHUT_WR);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	for (const char *at = text; (at = strstr(at, "HTTP/1.1 200")); at++)
		answers++;
	assert_int_equal(answers, 3);
}

static void test_framing(void **state)
{
	(void)state;
	assert_int_equal(
		status_of(ask("POST /things/1/echo HTTP/1.1\r\n$\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")), 400);
	assert_int_equal(
		status_of(ask(
			"POST /things/1/echo HTTP/1.1\r\n$\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
		400);
	assert_int_equal(status_of(ask("POST /things/1/echo HTTP/1.1\r\n$\r\nContent-Length: 9999999999\r\n\r\nx")), 413);
	/* a proxy may read these names otherwise, and take what follows for a part of this request */
	static const char *const names[] = { "Content-Length ", "Content-Length\t", "Transfer-Encoding ", "Trans(er",
		"\xc3\xbc" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char request[256];
		snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\n$\r\n%s: 0\r\n\r\nGET /hello HTTP/1.1\r\n$\r\n\r\n",
			names[i]);
		const char *answer = ask(request);
		assert_int_equal(status_of(answer), 400);
		assert_null(strstr(answer, "hello"));
	}
}

static void test_paths(void **state)
{
	(void)state;
	static const char *const paths[] = { "/%2e%2e/etc/passwd", "/../etc/passwd", "//hello", "/hello%00", "/hello%0d%0aX:%201",
		"/a\\b", "/hello?name=%00", "/hello?name=%zz", "/hello?%" };
	char request[256];
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n", paths[i]);
		if (status_of(ask(request)) != 400)
			fail_msg("%s was not refused: %s", paths[i], ask(request));
	}
}

static void test_cross_origin(void **state)
{
	(void)state;
	char request[256];
	assert_int_equal(status_of(ask("POST /things/1/echo HTTP/1.1\r\n$\r\nOrigin: https://evil.example\r\nContent-Length: "
				       "0\r\nConnection: close\r\n\r\n")),
		403);
	assert_int_equal(
		status_of(ask(
			"POST /things/1/echo HTTP/1.1\r\n$\r\nOrigin: null\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")),
		403);
	assert_int_equal(status_of(ask("POST /things/1/echo HTTP/1.1\r\n$\r\nSec-Fetch-Site: cross-site\r\nContent-Length: "
				       "0\r\nConnection: close\r\n\r\n")),
		403);
	snprintf(request, sizeof request,
		"POST /things/1/echo HTTP/1.1\r\n$\r\nOrigin: http://127.0.0.1:%d\r\nContent-Length: 0\r\nConnection: "
		"close\r\n\r\n",
		http_port(http));
	assert_int_equal(status_of(ask(request)), 200);
	/* reading from another site is harmless: that site cannot read the answer */
	assert_int_equal(
		status_of(ask("GET /hello HTTP/1.1\r\n$\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n")), 200);
}

/* Send a body of one chunk that is larger than 1 MiB. Returns the status. */
static int send_chunk(const char *path)
{
	static char body[(1 << 20) + 4096], text[65536];
	char head[256];
	memset(body, 'x', sizeof body);
	snprintf(head, sizeof head,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\nConnection: "
		"close\r\n\r\n%zx\r\n",
		path, http_port(http), sizeof body);
	int fd = dial();
	assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (size_t done = 0; done < sizeof body;) {
		ssize_t n = send(fd, body + done, sizeof body - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EAGAIN)
			break;
		http_run(http);
	}
	if (send(fd, "\r\n0\r\n\r\n", 7, MSG_NOSIGNAL) < 0)
		assert_true(errno == EPIPE || errno == ECONNRESET);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	return status_of(text);
}

static void test_large_body(void **state)
{
	(void)state;
	assert_int_equal(send_chunk("/things/1/echo"), 413);
	assert_int_equal(send_chunk("/upload"), 200);
}

/* What the guard found out about the user is valid for an answer that is written later, too. */
static void test_deferred(void **state)
{
	(void)state;
	char text[4096], head[128];
	int fd = dial();
	snprintf(head, sizeof head, "GET /deferred HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", http_port(http));
	assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < 20; i++)
		http_run(http);
	http_notify(http);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	assert_non_null(strstr(text, "logged in 1, 3 alerts"));
	assert_non_null(strstr(text, "Cache-Control: private, no-cache"));
}

/* Begin an upload of `bytes` bytes. `headers`: more of them. Returns its socket. */
static int begin_upload_to(const char *path, const char *headers, size_t bytes)
{
	char head[256];
	int fd = dial();
	snprintf(head, sizeof head,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%sContent-Length: %zu\r\nConnection: close\r\n\r\n", path,
		http_port(http), headers, bytes);
	assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < 20; i++)
		http_run(http);
	return fd;
}

static int begin_upload(size_t bytes)
{
	return begin_upload_to("/upload", "", bytes);
}

/* Send the whole body and read the answer. Returns its status. Shape: text[65536]. */
static int end_upload(int fd, size_t bytes, char *text)
{
	static char part[1 << 16];
	memset(part, 'x', sizeof part);
	while (bytes > 0) {
		ssize_t n = send(fd, part, bytes < sizeof part ? bytes : sizeof part, MSG_DONTWAIT | MSG_NOSIGNAL);
		assert_true(n > 0 || errno == EAGAIN);
		bytes -= n > 0 ? (size_t)n : 0;
		http_run(http);
	}
	serve(fd, NULL, text, 65536);
	close(fd);
	return status_of(text);
}

/* Only an address for uploads takes a large body. One that is too large even there is read, so that a browser shows the refusal. */
static void test_uploads(void **state)
{
	(void)state;
	static char text[65536];
	assert_int_equal(end_upload(begin_upload(HTTP_UPLOAD_MAX), HTTP_UPLOAD_MAX, text), 200);
	assert_non_null(strstr(text, "33619968 bytes"));
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	assert_int_equal(end_upload(begin_upload(HTTP_UPLOAD_MAX + 1), HTTP_UPLOAD_MAX + 1, text), 413);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (1 << 20));
	int fd = begin_upload((size_t)HTTP_UPLOAD_READ_MAX + 1);
	serve(fd, NULL, text, sizeof text);
	close(fd);
	assert_int_equal(status_of(text), 413);
}

static void test_uploads_at_the_same_time_are_bounded(void **state)
{
	(void)state;
	static char text[65536];
	enum { BYTES = 2 << 20 };
	int fd[HTTP_UPLOADS_MAX];
	for (int i = 0; i < HTTP_UPLOADS_MAX; i++)
		fd[i] = begin_upload(BYTES);
	int more = begin_upload(BYTES);
	serve(more, NULL, text, sizeof text);
	close(more);
	assert_int_equal(status_of(text), 503);
	assert_non_null(strstr(text, "Retry-After: 5"));
	assert_int_equal(end_upload(begin_upload(1 << 20), 1 << 20, text), 200); /* as any other body */
	close(fd[0]);                                                            /* a client that has gone frees its place */
	for (int i = 0; i < 50; i++)
		http_run(http);
	assert_int_equal(end_upload(begin_upload(BYTES), BYTES, text), 200);
	assert_int_equal(end_upload(fd[1], BYTES, text), 200);
}

/* One token has one upload, so that other tokens can upload, too. */
static void test_uploads_of_one_token(void **state)
{
	(void)state;
	static char text[65536];
	enum { BYTES = 2 << 20 };
	int slow = begin_upload_to("/read/upload", "X-Token: ann\r\n", BYTES);
	int more = begin_upload_to("/read/upload", "X-Token: ann\r\n", BYTES);
	serve(more, NULL, text, sizeof text);
	close(more);
	assert_int_equal(status_of(text), 503);
	assert_int_equal(end_upload(begin_upload_to("/read/upload", "X-Token: bob\r\n", BYTES), BYTES, text), 200);
	assert_int_equal(end_upload(slow, BYTES, text), 200);
	assert_int_equal(end_upload(begin_upload_to("/read/upload", "X-Token: ann\r\n", BYTES), BYTES, text), 200);
}

/* Let time pass for the deadlines, and enforce them. */
static void pass_seconds(int seconds)
{
	http->paused_ns -= seconds * HTTP_SECOND_NS;
	http->swept_ns = clock_mono_ns() - 2 * HTTP_SECOND_NS;
	for (int i = 0; i < 20; i++)
		http_run(http);
}

static void test_uploads_without_progress_are_ended(void **state)
{
	(void)state;
	static char text[65536];
	enum { BYTES = 2 << 20, PIECES = 3, PIECE = 1000 };
	static const char piece[PIECE];
	int moving = begin_upload(BYTES), abandoned = begin_upload(BYTES);
	for (int i = 0; i < PIECES; i++) {
		pass_seconds(HTTP_UPLOAD_IDLE_S - 2);
		assert_int_equal(send(moving, piece, PIECE, MSG_NOSIGNAL), PIECE);
		for (int k = 0; k < 20; k++)
			http_run(http);
	}
	assert_int_equal(http->n_uploads, 1);
	assert_int_equal(recv(abandoned, text, sizeof text, 0), 0);
	close(abandoned);
	assert_int_equal(end_upload(moving, BYTES - PIECES * PIECE, text), 200);
}

/* A client without permission to write is rejected before its body is received and buffered in memory. */
static void test_body_without_permission(void **state)
{
	(void)state;
	char text[4096], head[256];
	snprintf(head, sizeof head, "POST /guarded HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1048576\r\n\r\n",
		http_port(http));
	int fd = dial();
	assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	serve(fd, "guarded", text, sizeof text);
	close(fd);
	assert_int_equal(status_of(text), 401);
	assert_non_null(strstr(text, "Connection: close"));
}

static void run_without_deadlines(void)
{
	http->swept_ns = clock_mono_ns();
	http_run(http);
}

/* Unfinished bodies share one limit: the rest is dropped, and memory stays bounded. Clients with such a body may try again. */
static void test_many_open_bodies(void **state)
{
	(void)state;
	enum { OPEN = 120, BYTES = 1 << 20 };
	static char part[1 << 16], text[65536];
	static int fd[OPEN];
	static size_t sent[OPEN];
	int taken = 0, later = 0;
	char head[256];
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	memset(part, 'x', sizeof part);
	snprintf(head, sizeof head,
		"POST /things/1/echo HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		http_port(http), BYTES);
	for (int i = 0; i < OPEN; i++) {
		sent[i] = 0;
		fd[i] = dial();
		assert_int_equal(send(fd[i], head, strlen(head), MSG_NOSIGNAL), strlen(head));
	}
	for (int k = 0; k < OPEN * 15;) {
		ssize_t n = send(fd[k % OPEN], part, sizeof part, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent[k % OPEN] += n > 0 ? (size_t)n : 0;
		k += n == sizeof part;
		if (n > 0 && n < (ssize_t)sizeof part)
			break; /* a full socket: enough was sent */
		run_without_deadlines();
	}
	for (int i = 0; i < 200; i++)
		run_without_deadlines();
	size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
	/* buffers grow by doubling, and libmicrohttpd allocates 64 KiB a connection */
	assert_true(after - before < 2 * (32u << 20) + OPEN * 65536u);
	for (int i = 0; i < OPEN; i++) {
		http->paused_ns += 60 * HTTP_SECOND_NS; /* not too late for any client */
		int status = end_upload(fd[i], BYTES - sent[i], text);
		taken += status == 200;
		later += status == 503;
	}
	assert_true(taken > 0 && later > 0);
	assert_int_equal(taken + later, OPEN);
}

/* More arguments than the library's buffer can hold: it rejects them without a callback, and no memory may leak. */
static void test_arguments_without_memory(void **state)
{
	(void)state;
	enum { REQUESTS = 200, ARGUMENTS = 16000 };
	static char raw[2 * ARGUMENTS + 256];
	char text[4096];
	size_t before = 0;
	for (int i = 0; i < REQUESTS; i++) {
		size_t at = (size_t)snprintf(raw, sizeof raw, "GET /hello?");
		for (int k = 0; k < ARGUMENTS; k++)
			at += (size_t)snprintf(raw + at, sizeof raw - at, "a&");
		snprintf(raw + at, sizeof raw - at, " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
		int fd = dial();
		assert_int_equal(send(fd, raw, strlen(raw), MSG_NOSIGNAL), strlen(raw));
		serve(fd, "\r\n\r\n", text, sizeof text);
		assert_true(status_of(text) != 200);
		close(fd);
		for (int k = 0; k < 3; k++)
			http_run(http);
		if (i == REQUESTS / 2)
			before = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks < before + REQUESTS / 2 * 2000);
}

static void test_stream(void **state)
{
	(void)state;
	char request[128], text[4096];
	streams_filled = 1;
	int fd = dial();
	snprintf(request, sizeof request, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	serve(fd, "data: 1", text, sizeof text);
	assert_non_null(strstr(text, "text/event-stream"));
	assert_non_null(strstr(text, "data: 1"));
	streams_filled = 3;
	http_notify(http);
	serve(fd, "data: 3", text, sizeof text);
	assert_non_null(strstr(text, "data: 2"));
	assert_non_null(strstr(text, "data: 3"));
	close(fd);
}

static bool is_open(int fd)
{
	char byte;
	for (int i = 0; i < 20; i++) {
		http_run(http);
		if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}

static void pass_served(int seconds)
{
	http->paused_ns -= seconds * HTTP_SECOND_NS;
	http->swept_ns -= 2 * HTTP_SECOND_NS; /* the next iteration sweeps */
}

static void pass_paused(int seconds)
{
	http->paused_ns -= seconds * HTTP_SECOND_NS;
	http->swept_ns -= seconds * HTTP_SECOND_NS;
}

/* A daemon that was paused must not blame its clients: they had no chance to read or to finish a request. */
static void test_pause_of_the_daemon(void **state)
{
	(void)state;
	char request[128], text[4096];
	int unfinished = dial(), reader = dial();
	snprintf(request, sizeof request, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	assert_int_equal(send(unfinished, "GET /hello", 10, MSG_NOSIGNAL), 10);
	assert_int_equal(send(reader, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	streams_filled = 1;
	serve(reader, "data: 1", text, sizeof text);
	assert_true(is_open(unfinished));
	http_notify(http); /* the stream is about to be read, and counts as stalled after a minute */
	pass_paused(75);
	assert_true(is_open(reader));
	assert_true(is_open(unfinished));
	streams_filled = 2;
	http_notify(http);
	serve(reader, "data: 2", text, sizeof text);
	assert_non_null(strstr(text, "data: 2"));
	http_notify(http);
	pass_served(75);
	assert_false(is_open(reader));
	assert_false(is_open(unfinished));
	close(reader);
	close(unfinished);
}

static void test_empty_answer(void **state)
{
	(void)state;
	const char *a = ask("GET /empty HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n");
	assert_int_equal(status_of(a), 200);
	assert_non_null(strstr(a, "Content-Length: 0"));
}

/* Hundreds of unfinished requests: once three quarters of the connections are in use, their timeout is one second, not ten. */
static void test_crowd(void **state)
{
	(void)state;
	enum { CROWD = 800 };
	static int fd[CROWD];
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 2 * CROWD + 64) {
		print_message("[  SKIPPED ] too few descriptors are allowed here\n");
		skip();
	}
	for (int i = 0; i < CROWD; i++) {
		fd[i] = dial();
		assert_int_equal(send(fd[i], "GET /hello HT", 13, MSG_NOSIGNAL), 13);
		http_run(http);
	}
	int64_t start_ns = clock_mono_ns();
	char text[4096];
	serve(fd[0], NULL, text, sizeof text); /* until the first of them times out, at most three seconds */
	assert_true(clock_mono_ns() - start_ns < INT64_C(120000000000));
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 200);
	for (int i = 0; i < CROWD; i++)
		close(fd[i]);
	for (int i = 0; i < 50; i++)
		http_run(http);
}

/* Streams have a separate limit: above it the answer is 503 with Retry-After. */
static void test_stream_limit(void **state)
{
	(void)state;
	enum { STREAMS = 129 };
	int fd[STREAMS], open = 0, later = 0;
	char request[128], text[4096];
	streams_filled = 1;
	snprintf(request, sizeof request, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	for (int i = 0; i < STREAMS; i++) {
		fd[i] = dial();
		assert_int_equal(send(fd[i], request, strlen(request), MSG_NOSIGNAL), strlen(request));
		serve(fd[i], "\r\n\r\n", text, sizeof text);
		open += status_of(text) == 200;
		later += status_of(text) == 503 && strstr(text, "Retry-After: 5");
	}
	assert_int_equal(open, 128);
	assert_int_equal(later, 1);
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 200);
	for (int i = 0; i < STREAMS; i++)
		close(fd[i]);
}

/* Until no event is left, and the server would wait. */
static void settle(void)
{
	do
		http_run(http);
	while (poll(&(struct pollfd){ .fd = http_fd(http), .events = POLLIN }, 1, 20) > 0);
}

/* A token whose user opens streams without end leaves some for others. */
static void test_streams_of_one_token(void **state)
{
	(void)state;
	enum { STREAMS = 112, OF_ONE = 100 };
	int fd[STREAMS], open[2] = { 0 };
	char request[160], text[4096];
	streams_filled = 1;
	for (int i = 0; i < STREAMS; i++) {
		snprintf(request, sizeof request, "GET /read/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Token: %s\r\n\r\n",
			http_port(http), i < OF_ONE ? "one" : "other");
		fd[i] = dial();
		assert_int_equal(send(fd[i], request, strlen(request), MSG_NOSIGNAL), strlen(request));
		serve(fd[i], "\r\n\r\n", text, sizeof text);
		open[i >= OF_ONE] += status_of(text) == 200;
	}
	assert_int_equal(open[0], 96);
	assert_int_equal(open[1], STREAMS - OF_ONE);
	for (int i = 0; i < STREAMS; i++)
		close(fd[i]);
	settle();
}

/* A closed stream frees its slot at once: it wakes the server, which need not wait for the next event. */
static void test_positions_of_closed_streams(void **state)
{
	(void)state;
	enum { STREAMS = 128, ROUNDS = 20 };
	int fd[STREAMS];
	char request[128], text[4096];
	snprintf(request, sizeof request, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	settle();
	for (int i = 0; i < STREAMS + ROUNDS; i++) {
		int at = i % STREAMS;
		if (i >= STREAMS) { /* all slots are in use */
			settle();
			close(fd[at]);
			assert_int_equal(poll(&(struct pollfd){ .fd = http_fd(http), .events = POLLIN }, 1, 10000), 1);
		}
		fd[at] = dial();
		assert_int_equal(send(fd[at], request, strlen(request), MSG_NOSIGNAL), strlen(request));
		serve(fd[at], "\r\n\r\n", text, sizeof text);
		assert_int_equal(status_of(text), 200);
	}
	for (int i = 0; i < STREAMS; i++)
		close(fd[i]);
	settle();
}

/* Large unread answers share one limit; small ones are still sent. */
static void test_unread_answers(void **state)
{
	(void)state;
	enum { READERS = 32 };
	int fd[READERS], answered = 0, later = 0;
	char request[128];
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	snprintf(request, sizeof request, "GET /large HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", http_port(http));
	for (int i = 0; i < READERS; i++) {
		char start[16] = "";
		fd[i] = dial();
		assert_int_equal(send(fd[i], request, strlen(request), MSG_NOSIGNAL), strlen(request));
		do
			http_run(http);
		while (recv(fd[i], start, 12, MSG_PEEK | MSG_DONTWAIT) != 12);
		answered += status_of(start) == 200;
		later += status_of(start) == 503;
	}
	assert_int_equal(answered + later, READERS);
	assert_in_range(answered, 8, (256 << 20) / LARGE);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (300u << 20));
	assert_int_equal(status_of(ask("GET /hello HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 200);
	for (int i = 0; i < READERS; i++)
		close(fd[i]);
	settle();
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (32u << 20));
	assert_int_equal(status_of(ask("HEAD /large HTTP/1.1\r\n$\r\nConnection: close\r\n\r\n")), 200);
}

static void test_port_in_use(void **state)
{
	(void)state;
	struct http_config config = { .host = "127.0.0.1", .port = http_port(http), .no_route = refuse };
	struct fw_err err = { 0 };
	struct http *second = NULL;
	assert_int_equal(http_start(&config, &second, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.text, "is in use by another program"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_no_route),
		cmocka_unit_test(test_head_and_not_modified),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_host_of_all_addresses),
		cmocka_unit_test(test_zero_bytes_in_headers),
		cmocka_unit_test(test_long_headers_hide_no_later_header),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_cross_origin),
		cmocka_unit_test(test_large_body),
		cmocka_unit_test(test_deferred),
		cmocka_unit_test(test_uploads),
		cmocka_unit_test(test_uploads_at_the_same_time_are_bounded),
		cmocka_unit_test(test_uploads_of_one_token),
		cmocka_unit_test(test_uploads_without_progress_are_ended),
		cmocka_unit_test(test_body_without_permission),
		cmocka_unit_test(test_many_open_bodies),
		cmocka_unit_test(test_arguments_without_memory),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_pause_of_the_daemon),
		cmocka_unit_test(test_empty_answer),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_stream_limit),
		cmocka_unit_test(test_streams_of_one_token),
		cmocka_unit_test(test_positions_of_closed_streams),
		cmocka_unit_test(test_unread_answers),
		cmocka_unit_test(test_port_in_use),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
