#include "web/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "web/http_listen.h"
#include "web/media.h"
#include "web/pairs.h"
#include "web/route.h"
#include "web/tally.h"

enum {
	BODY_MAX = 1 << 20,
	BODIES_MAX = 32 << 20 /* of all requests that are under way */,
	RESPONSE_MAX = 64 << 20,
	CONNECTION_LIMIT = 1024,
	STREAM_LIMIT = 128,
	STREAM_BACKLOG_MAX = 1 << 20
};
#define SECOND_NS             INT64_C(1000000000)
#define REQUEST_DEADLINE_NS   (10 * SECOND_NS)  /* connect to last byte of the first request */
#define KEEPALIVE_DEADLINE_NS (60 * SECOND_NS)  /* answer to last byte of the next request */
#define RESPONSE_DEADLINE_NS  (60 * SECOND_NS)  /* request to last byte of its answer */
#define FILE_DEADLINE_NS      (600 * SECOND_NS) /* the same for a file, which may be large */
#define CROWDED_DEADLINE_NS   SECOND_NS         /* what an unfinished request gets while three quarters of the places are taken */
#define STREAM_COMMENT_NS     (15 * SECOND_NS)  /* so that a client that is gone is noticed */

/* A socket. Absolute deadlines, because libmicrohttpd's timeout only sees inactivity and a dripping client is never inactive. */
struct connection {
	struct connection *next, *previous;
	int fd;
	int64_t since_ns; /* of the phase it is in */
	enum { PHASE_FIRST, PHASE_IDLE, PHASE_REST, PHASE_ANSWER, PHASE_FILE, PHASE_STREAM } phase;
	struct http_request *
		request; /* begun and not completed: libmicrohttpd tells of no end where it refuses one before our handler; NULL none */
	struct http_request *resting; /* suspended until its answer is there; NULL none */
};

struct stream {
	struct stream *next, *previous;
	struct http *http;
	struct MHD_Connection *connection;
	void (*fill)(void *arg, int64_t *cursor, struct buf *out);
	int64_t cursor;
	struct buf pending;
	int64_t comment_ns;
	bool suspended, ended;
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	bool begun;  /* the handler saw its headers */
	int route;   /* its place in the table, n_route none */
	int refused; /* status decided before the body, 0 none */
	const char *method;
	char *uri; /* raw, cut into path and query */
	struct pairs query;
	struct route_parts parts;
	struct buf body;
	char *form_text;
	struct pairs form;
	char who[64];
	http_handler_fn *later; /* what to ask for the answer, and to tell of the end; NULL: the handler answered */
	bool abandoned;         /* whoever asked hung up */
};

struct http {
	struct http_config config;
	struct http_route *route;
	struct tally *tally; /* of answers */
	struct MHD_Daemon *daemon;
	int port, fd;
	char hosts[4][80];
	const char *const *names;
	struct connection *connections;
	int n_connection;
	struct stream *streams;
	int n_stream;
	int64_t swept_ns;
	size_t bodies; /* bytes in the bodies of all requests */
	bool stopping;
};

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static struct connection *connection_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static void request_free(struct http_request *r)
{
	if (!r)
		return;
	r->http->bodies -= r->body.len;
	buf_fini(&r->body);
	free(r->uri);
	free(r->form_text);
	free(r);
}

/* The connection keeps it, so that it goes with the next request or with the connection where nobody tells of its end. */
static void *request_new(void *arg, const char *uri, struct MHD_Connection *connection)
{
	struct connection *c = connection_of(connection);
	struct http_request *r = c ? calloc(1, sizeof *r) : NULL;
	if (!r)
		return NULL;
	r->http = arg;
	r->connection = connection;
	r->uri = strdup(uri ? uri : "");
	r->route = r->http->config.n_route;
	snprintf(r->who, sizeof r->who, "local");
	buf_init(&r->body, BODY_MAX);
	request_free(c->request);
	c->request = r;
	return r;
}

/* What of a body is beyond the room that all bodies share is let go, and the request is refused once it has come. */
static void take_body(struct http_request *r, const char *data, size_t size)
{
	if (r->http->bodies + size > BODIES_MAX) {
		r->refused = 503;
		r->http->bodies -= r->body.len;
		buf_fini(&r->body);
		buf_init(&r->body, BODY_MAX);
	}
	if (r->refused)
		return;
	size_t before = r->body.len;
	buf_append(&r->body, data, size);
	r->http->bodies += r->body.len - before;
}

struct header_count {
	int host, length, encoding;
};

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind, (void)value;
	struct header_count *c = arg;
	c->host += strcasecmp(name, "Host") == 0;
	c->length += strcasecmp(name, "Content-Length") == 0;
	c->encoding += strcasecmp(name, "Transfer-Encoding") == 0;
	return MHD_YES;
}

/* A page of another site that makes the browser send us a write says so in these headers. */
static bool is_cross_origin(struct http_request *r)
{
	const char *site = http_header(r, "Sec-Fetch-Site");
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	const char *origin = http_header(r, "Origin");
	if (!origin)
		return false;
	const char *host = http_header(r, "Host");
	size_t scheme = strncmp(origin, "http://", 7) == 0 ? 7 : strncmp(origin, "https://", 8) == 0 ? 8 : 0;
	return scheme == 0 || !host || strcmp(origin + scheme, host) != 0;
}

static bool is_read(const struct http_request *r)
{
	return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
}

/* Everything that can be said of a request before its body. Status, 0: go on. */
static int judge_headers(struct http_request *r)
{
	struct header_count count = { 0 };
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &count);
	if (count.host != 1 || count.length > 1 || count.encoding > 1 || (count.length && count.encoding))
		return 400;
	const char *host = http_header(r, "Host");
	bool known = false;
	for (int i = 0; i < 4; i++)
		known |= r->http->hosts[i][0] && strcasecmp(host, r->http->hosts[i]) == 0;
	for (const char *const *name = r->http->names; name && *name && !known; name++)
		known = strcasecmp(host, *name) == 0;
	if (!known)
		return 421;
	char *question = strchr(r->uri, '?');
	if (question) {
		*question = '\0';
		if (pairs_split(&r->query, question + 1) != 0)
			return 400;
	}
	if (!route_is_plain(r->uri))
		return 400;
	const char *length = http_header(r, "Content-Length");
	if (length && strtoull(length, NULL, 10) > BODY_MAX)
		return 413;
	if (is_read(r))
		return 0;
	if (strcmp(r->method, "POST") != 0)
		return 405;
	return is_cross_origin(r) ? 403 : 0;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void add(struct MHD_Response *m, const char *name, const char *value)
{
	if (MHD_add_response_header(m, name, value) != MHD_YES)
		log_warning("http.header", "name=%s err=refused", name);
}

static ssize_t stream_read(void *arg, uint64_t position, char *out, size_t max)
{
	(void)position;
	struct stream *s = arg;
	if (s->http->stopping || s->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (s->pending.len == 0)
		s->fill(s->http->config.arg, &s->cursor, &s->pending);
	if (s->pending.failed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (s->pending.len == 0) {
		s->suspended = true;
		MHD_suspend_connection(s->connection);
		return 0;
	}
	size_t n = s->pending.len < max ? s->pending.len : max;
	memcpy(out, s->pending.data, n);
	buf_consume(&s->pending, n);
	s->comment_ns = clock_mono_ns();
	return (ssize_t)n;
}

static void stream_free(void *arg)
{
	struct stream *s = arg;
	if (s->previous)
		s->previous->next = s->next;
	else
		s->http->streams = s->next;
	if (s->next)
		s->next->previous = s->previous;
	s->http->n_stream--;
	buf_fini(&s->pending);
	free(s);
}

static struct MHD_Response *stream_response(struct http_request *r, const struct http_response *response)
{
	struct stream *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->http = r->http;
	s->connection = r->connection;
	s->fill = response->stream;
	s->cursor = response->cursor;
	s->comment_ns = clock_mono_ns();
	buf_init(&s->pending, STREAM_BACKLOG_MAX);
	buf_puts(&s->pending, "retry: 3000\n\n");
	buf_append(&s->pending, response->body.data, response->body.len);
	s->next = s->http->streams;
	if (s->next)
		s->next->previous = s;
	s->http->streams = s;
	s->http->n_stream++;
	struct MHD_Response *m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, stream_read, s, stream_free);
	if (!m)
		stream_free(s);
	return m;
}

static struct MHD_Response *file_response(const char *path)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &info) != 0) {
		close(fd);
		return NULL;
	}
	return MHD_create_response_from_fd64((uint64_t)info.st_size, fd);
}

static bool is_not_modified(const struct http_request *r, const struct http_response *response)
{
	const char *known = http_header(r, "If-None-Match");
	return known && response->etag[0] && response->status == 200 &&
	       (strcmp(known, "*") == 0 || strstr(known, response->etag));
}

static enum MHD_Result send_response(struct http_request *r, struct http_response *response)
{
	struct MHD_Response *m;
	if (response->body.failed) {
		buf_clear(&response->body);
		response->status = 500;
		response->stream = NULL;
		response->etag[0] = '\0';
		r->http->config.no_route(r->http->config.arg, r, response);
	}
	struct connection *c = connection_of(r->connection);
	if (c) {
		c->phase = response->stream ? PHASE_STREAM : response->file[0] ? PHASE_FILE : PHASE_ANSWER;
		c->since_ns = clock_mono_ns();
	}
	if (response->stream) {
		m = stream_response(r, response);
	} else if (response->file[0]) {
		m = file_response(response->file);
	} else {
		/* a 304 carries the length of what it spares, so it is given the same bytes */
		bool is_owned = response->body.cap > 0; /* an empty buf points to memory that nobody may free */
		m = MHD_create_response_from_buffer(
			response->body.len, response->body.data, is_owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
		if (m)
			memset(&response->body, 0, sizeof response->body);
	}
	buf_fini(&response->body);
	if (!m)
		return MHD_NO;
	int status = is_not_modified(r, response) ? 304 : response->status;
	tally_add(r->http->tally, r->route, status);
	add(m, "Content-Type", response->type);
	add(m, "Vary", "Accept");
	add(m, "Cache-Control", response->cache ? response->cache : "no-cache");
	add(m, "X-Content-Type-Options", "nosniff");
	add(m, "Referrer-Policy",
		"same-origin"); /* with "no-referrer" the forms of our own pages would come from "Origin: null" */
	add(m, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri "
		"'none'; "
		"frame-ancestors 'none'; form-action 'self'");
	if (response->etag[0])
		add(m, "ETag", response->etag);
	if (response->location[0])
		add(m, "Location", response->location);
	if (response->allow[0])
		add(m, "Allow", response->allow);
	if (response->link[0])
		add(m, "Link", response->link);
	if (response->cookie[0])
		add(m, "Set-Cookie", response->cookie);
	if (status == 401)
		add(m, "WWW-Authenticate", "Bearer realm=\"flopwatch\"");
	if (status == 503)
		add(m, "Retry-After", "5");
	if (response->stream)
		add(m, "X-Accel-Buffering", "no");
	if (r->refused)
		add(m, "Connection", "close");
	enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)status, m);
	MHD_destroy_response(m);
	return result;
}

/* Another method was meant: which ones the address has. 404 where there is no such address at all. */
static int refuse_method(struct http_request *r, struct http_response *response)
{
	bool has_get = false, has_post = false;
	for (int i = 0; i < r->http->config.n_route; i++) {
		const struct http_route *route = &r->http->route[i];
		if (!route_match(route->path, r->uri, &r->parts))
			continue;
		has_get |= strcmp(route->method, "GET") == 0;
		has_post |= strcmp(route->method, "POST") == 0;
	}
	snprintf(response->allow, sizeof response->allow, "%s%s%s", has_get ? "GET, HEAD" : "", has_get && has_post ? ", " : "",
		has_post ? "POST" : "");
	return has_get || has_post ? 405 : 404;
}

/* The handler has answered; where the reader cannot take that form, a refusal takes its place. Only of reads: they changed nothing. */
static void judge_form(struct http_request *r, struct http_response *response)
{
	if (!is_read(r) || response->status != 200 || media_quality(http_header(r, "Accept"), response->type) > 0)
		return;
	response->status = 406;
	response->stream = NULL;
	response->etag[0] = response->link[0] = '\0';
	response->file[0] = '\0';
	buf_clear(&response->body);
	r->http->config.no_route(r->http->config.arg, r, response);
}

/* Until http_notify. libmicrohttpd then asks for the answer again. */
static enum MHD_Result rest(struct http_request *r, struct http_response *response)
{
	struct connection *c = connection_of(r->connection);
	buf_fini(&response->body);
	r->later = response->later;
	if (!c || r->http->stopping)
		return MHD_NO;
	c->phase = PHASE_REST;
	c->resting = r;
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

static enum MHD_Result ask_again(struct http_request *r)
{
	struct http_response response = { .status = 200, .type = "text/plain; charset=utf-8" };
	if (r->abandoned)
		return MHD_NO;
	buf_init(&response.body, RESPONSE_MAX);
	r->later(r->http->config.arg, r, &response);
	return response.later ? rest(r, &response) : send_response(r, &response);
}

static enum MHD_Result dispatch(struct http_request *r)
{
	struct http *h = r->http;
	struct http_response response = { .status = r->refused ? r->refused : 404, .type = "text/plain; charset=utf-8" };
	buf_init(&response.body, RESPONSE_MAX);
	if (!r->refused && r->body.failed)
		response.status = r->refused = 413;
	const char *method = strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
	for (int i = 0; !r->refused && i < h->config.n_route; i++) {
		if (!route_match(h->route[i].path, r->uri, &r->parts))
			continue;
		if (strcmp(h->route[i].method, method) == 0) {
			response.status = 200;
			r->route = i;
			enum http_scope scope = h->route[i].scope;
			if (scope == HTTP_OPEN || !h->config.guard || h->config.guard(h->config.arg, r, &response, scope))
				h->route[i].handler(h->config.arg, r, &response);
			if (response.later)
				return rest(r, &response);
			judge_form(r, &response);
			if (response.stream && h->n_stream >= STREAM_LIMIT) {
				response.stream = NULL;
				response.status = 503;
				buf_clear(&response.body);
				h->config.no_route(h->config.arg, r, &response);
			}
			return send_response(r, &response);
		}
		response.status = 405;
	}
	if (response.status == 405)
		response.status = refuse_method(r, &response);
	h->config.no_route(h->config.arg, r, &response);
	return send_response(r, &response);
}

/* Whoever may not write need not send what: a body is kept in memory until it is whole. False: `refusal` says why. */
static bool may_send_body(struct http_request *r, struct http_response *refusal)
{
	const struct http_config *config = &r->http->config;
	for (int i = 0; i < config->n_route; i++) {
		const struct http_route *route = &r->http->route[i];
		if (strcmp(route->method, r->method) != 0 || !route_match(route->path, r->uri, &r->parts))
			continue;
		if (route->scope == HTTP_OPEN || !config->guard)
			return true;
		*refusal = (struct http_response){ .status = 200, .type = "text/plain; charset=utf-8" };
		buf_init(&refusal->body, RESPONSE_MAX);
		r->route = i;
		if (config->guard(config->arg, r, refusal, route->scope)) {
			buf_fini(&refusal->body);
			return true;
		}
		r->refused = refusal->status;
		return false;
	}
	return true;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *upload, size_t *upload_size, void **request)
{
	(void)arg, (void)connection, (void)url, (void)version;
	struct http_request *r = *request;
	struct http_response refusal;
	if (!r || !r->uri)
		return MHD_NO;
	if (!r->begun) {
		r->begun = true;
		r->method = method;
		r->refused = judge_headers(r);
		/* a refusal is answered at once: its body, if it ever comes, is not worth waiting for */
		if (r->refused)
			return dispatch(r);
		return is_read(r) || may_send_body(r, &refusal) ? MHD_YES : send_response(r, &refusal);
	}
	if (*upload_size) {
		take_body(r, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	return r->later ? ask_again(r) : dispatch(r);
}

static void completed(void *arg, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode code)
{
	(void)arg, (void)code;
	struct connection *c = connection_of(connection);
	if (c) {
		c->phase = PHASE_IDLE;
		c->since_ns = clock_mono_ns();
	}
	struct http_request *r = *request;
	if (r && r->later)
		r->later(r->http->config.arg, r, NULL);
	if (c && c->request == r)
		c->request = NULL;
	request_free(r);
	*request = NULL;
}

static void connection_changed(
	void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		struct connection *c = calloc(1, sizeof *c);
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (!c)
			return;
		c->fd = info ? info->connect_fd : -1;
		c->since_ns = clock_mono_ns();
		c->next = h->connections;
		if (c->next)
			c->next->previous = c;
		h->connections = c;
		h->n_connection++;
		*context = c;
	} else if (*context) {
		struct connection *c = *context;
		if (c->previous)
			c->previous->next = c->next;
		else
			h->connections = c->next;
		if (c->next)
			c->next->previous = c->previous;
		h->n_connection--;
		request_free(c->request);
		free(c);
		*context = NULL;
	}
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void log_library(void *arg, const char *format, va_list args)
{
	(void)arg;
	char text[256];
	vsnprintf(text, sizeof text, format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http.library", "err=%s", log_quote(text));
}

int http_start(const struct http_config *config, struct http **out, struct fw_err *err)
{
	struct http *h = calloc(1, sizeof *h);
	if (!h)
		return err_set(err, ERR_INTERNAL, "out of memory");
	h->config = *config;
	h->names = config->names;
	h->route = malloc((size_t)config->n_route * sizeof *h->route + 1);
	h->tally = tally_new(config->n_route);
	int listener = h->route && h->tally ? http_listen(config->host, config->port, &h->port, err)
					    : err_set(err, ERR_INTERNAL, "out of memory");
	if (listener < 0) {
		tally_free(h->tally);
		free(h->route);
		free(h);
		return -1;
	}
	memcpy(h->route, config->route, (size_t)config->n_route * sizeof *h->route);
	/* exact names: another name that resolves to this address is somebody's trick */
	snprintf(h->hosts[0], sizeof h->hosts[0], "127.0.0.1:%d", h->port);
	snprintf(h->hosts[1], sizeof h->hosts[1], "localhost:%d", h->port);
	snprintf(h->hosts[2], sizeof h->hosts[2], "[::1]:%d", h->port);
	snprintf(h->hosts[3], sizeof h->hosts[3], strchr(config->host, ':') ? "[%s]:%d" : "%s:%d", config->host, h->port);
	for (int i = 0; h->port == 80 && i < 4; i++)
		*strrchr(h->hosts[i], ':') = '\0'; /* browsers leave it out */
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, h,
		MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTION_LIMIT, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
		MHD_OPTION_URI_LOG_CALLBACK, request_new, h, MHD_OPTION_NOTIFY_COMPLETED, completed, h,
		MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	const union MHD_DaemonInfo *info = h->daemon ? MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		if (h->daemon)
			MHD_stop_daemon(h->daemon);
		else
			close(listener);
		tally_free(h->tally);
		free(h->route);
		free(h);
		return err_set(err, ERR_INTERNAL, "libmicrohttpd did not start");
	}
	h->fd = info->epoll_fd;
	*out = h;
	return 0;
}

static void wake_resting(struct connection *c)
{
	struct MHD_Connection *connection = c->resting->connection;
	c->resting = NULL;
	MHD_resume_connection(connection);
}

static void wake_streams(struct http *h)
{
	for (struct stream *s = h->streams; s; s = s->next) {
		if (s->suspended) {
			s->suspended = false;
			MHD_resume_connection(s->connection);
		}
	}
}

static void wake_all(struct http *h)
{
	wake_streams(h);
	for (struct connection *c = h->connections; c; c = c->next)
		if (c->resting)
			wake_resting(c);
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	h->stopping = true;
	wake_all(h);
	for (int i = 0; i < 8 && h->connections; i++)
		MHD_run(h->daemon);
	MHD_stop_daemon(h->daemon);
	tally_free(h->tally);
	free(h->route);
	free(h);
}

int http_port(const struct http *h)
{
	return h->port;
}

int http_fd(const struct http *h)
{
	return h->fd;
}

static int64_t deadline_of(const struct http *h, const struct connection *c)
{
	bool crowded = h->n_connection > CONNECTION_LIMIT * 3 / 4;
	if (c->phase == PHASE_STREAM || c->phase == PHASE_REST)
		return INT64_MAX;
	if (c->phase == PHASE_FILE)
		return FILE_DEADLINE_NS;
	if (c->phase == PHASE_ANSWER)
		return RESPONSE_DEADLINE_NS;
	if (crowded)
		return CROWDED_DEADLINE_NS;
	return c->phase == PHASE_FIRST ? REQUEST_DEADLINE_NS : KEEPALIVE_DEADLINE_NS;
}

/* libmicrohttpd does not look at a connection that rests. */
static bool has_hung_up(const struct connection *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	return c->fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Once a second: end connections past their deadline, and see whether anyone still reads silent streams and awaits what comes later. */
static void sweep(struct http *h, int64_t now_ns)
{
	for (struct connection *c = h->connections; c; c = c->next) {
		if (now_ns - c->since_ns > deadline_of(h, c) && c->fd >= 0)
			shutdown(c->fd, SHUT_RDWR);
		if (c->resting && has_hung_up(c)) {
			c->resting->abandoned = true;
			wake_resting(c);
		}
	}
	for (struct stream *s = h->streams; s; s = s->next) {
		if (s->suspended && now_ns - s->comment_ns > STREAM_COMMENT_NS) {
			buf_puts(&s->pending, ": still here\n\n");
			s->suspended = false;
			MHD_resume_connection(s->connection);
		}
	}
}

int64_t http_run(struct http *h)
{
	int64_t now_ns = clock_mono_ns();
	if (h->connections && now_ns - h->swept_ns > SECOND_NS) {
		sweep(h, now_ns);
		h->swept_ns = now_ns;
	}
	if (MHD_run(h->daemon) != MHD_YES)
		log_error("http.run", "err=failed");
	MHD_UNSIGNED_LONG_LONG wait_ms;
	int64_t result = MHD_get_timeout(h->daemon, &wait_ms) == MHD_YES ? (int64_t)wait_ms : -1;
	if (h->connections && (result < 0 || result > 1000))
		result = 1000;
	return result;
}

void http_notify(struct http *h)
{
	wake_all(h);
}

void http_end_streams(const struct http_request *r)
{
	for (struct stream *s = r->http->streams; s; s = s->next)
		s->ended = true;
	wake_streams(r->http);
}

struct counting {
	const struct http *http;
	http_count_fn *each;
	void *arg;
};

static void count_row(void *arg, int route, int status, uint64_t n)
{
	const struct counting *c = arg;
	bool known = route < c->http->config.n_route;
	c->each(c->arg, known ? c->http->route[route].method : "", known ? c->http->route[route].path : "", status, n);
}

void http_each_count(const struct http_request *r, http_count_fn *each, void *arg)
{
	struct counting c = { r->http, each, arg };
	tally_each(r->http->tally, count_row, &c);
}

/* ---- what handlers ask ------------------------------------------------------------------------------------------- */

const char *http_path(const struct http_request *r)
{
	return r->uri;
}

const char *http_segment(const struct http_request *r, int i)
{
	return i < r->parts.n ? r->parts.part[i] : "";
}

const char *http_query(const struct http_request *r, const char *name)
{
	return pairs_get(&r->query, name);
}

const char *http_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *http_cookie(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_COOKIE_KIND, name);
}

const char *http_who(const struct http_request *r)
{
	return r->who;
}

void http_set_who(struct http_request *r, const char *who)
{
	snprintf(r->who, sizeof r->who, "%s", who);
}

const char *http_body(const struct http_request *r, size_t *len)
{
	*len = r->body.len;
	return r->body.data;
}

const char *http_form(struct http_request *r, const char *name)
{
	if (!r->form_text) {
		r->form_text = strdup(r->body.data ? r->body.data : "");
		if (!r->form_text || pairs_split(&r->form, r->form_text) != 0)
			r->form.n = 0;
	}
	return pairs_get(&r->form, name);
}
