/* http.c - start and stop of the server, its iteration of the loop, and dispatch of requests. */

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "web/http/internal.h"

#define PAUSE_MIN_NS (3 * HTTP_SECOND_NS) /* without an iteration: the daemon did not serve */

/* ---- dispatch: The handler of the route answers a request, now or deferred, if the guard allows it. ---- */

/* The methods of an address that does not have the requested one: 405. 404 if there is no such address. */
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

/* Replace an answer that the Accept header rules out by 406. Only for reads, which have changed nothing. */
static void judge_form(struct http_request *r, struct http_response *response)
{
	if (request_is_read(r) && response->status == 200 && media_quality(http_header(r, "Accept"), response->type) <= 0)
		http_refuse(r, response, 406);
}

/* Suspend the connection until http_notify. libmicrohttpd then calls `answer` again. */
static enum MHD_Result rest(struct http_request *r, struct http_response *response)
{
	struct connection *c = connection_of(r->connection);
	buf_fini(&response->body);
	r->later = response->later;
	r->logged_in = response->logged_in;
	r->open_alerts = response->open_alerts;
	r->is_private = response->is_private;
	if (!c || r->http->stopping)
		return MHD_NO;
	c->phase = PHASE_REST;
	c->resting = r;
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

static void call(struct http_request *r, struct http_response *response, http_handler_fn *handler)
{
	const struct http_config *config = &r->http->config;
	struct fw_err err = { 0 };
	if (handler(config->site, r, response, &err) == 0 || !response || response->status >= 400)
		return;
	response->status = 500;
	config->no_route(config->site, r, response, &err);
}

/* A write is complete. */
static void finish_write(struct http_request *r, const struct http_response *response)
{
	const struct http_config *config = &r->http->config;
	const struct http_route *route = &r->http->route[r->route];
	if (config->after && r->is_allowed && strcmp(route->method, "POST") == 0)
		config->after(config->site, r, response, route->scope);
}

/* Try again to get a deferred answer. */
static enum MHD_Result http_request_again(struct http_request *r)
{
	struct http_response response = { .status = 200,
		.type = "text/plain; charset=utf-8",
		.logged_in = r->logged_in,
		.open_alerts = r->open_alerts,
		.is_private = r->is_private };
	if (r->abandoned)
		return MHD_NO;
	buf_init(&response.body, HTTP_RESPONSE_MAX);
	call(r, &response, r->later);
	if (response.later)
		return rest(r, &response);
	finish_write(r, &response);
	return http_send(r, &response);
}

/* The last line of X-Forwarded-For: a proxy may append a line to those that its client sent. */
static enum MHD_Result take_forwarded(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const char **forwarded = arg;
	(void)kind;
	if (strcasecmp(name, "X-Forwarded-For") == 0)
		*forwarded = value;
	return MHD_YES;
}

/* False: a program that connects through loopback. */
static bool read_address(const struct http_request *r, char key[RATE_KEY_MAX])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const char *forwarded = NULL;
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, take_forwarded, &forwarded);
	return rate_key_of_address(info ? info->client_addr : NULL, forwarded, key);
}

/* Count a request of its token, else of its address. False: the client has sent too many. */
static bool take_rate(struct http_request *r)
{
	char key[RATE_KEY_MAX];
	if (!r->http->rate || !read_address(r, key))
		return true;
	if (r->has_token)
		snprintf(key, sizeof key, "token %s", r->who);
	return rate_take(r->http->rate, key, clock_mono_ns() / 1000000, &r->rate);
}

bool http_count(struct http_request *r)
{
	return take_rate(r);
}

bool http_count_log_in(struct http_request *r, char client[HTTP_CLIENT_MAX])
{
	bool is_limited = read_address(r, client);
	if (!is_limited)
		client[0] = '\0';
	return take_rate(r) && (!is_limited || rate_take(r->http->log_ins, client, clock_mono_ns() / 1000000, &r->rate));
}

/* Call the handler if the guard allows it and the route accepts every argument: an ignored filter would mislead the client. */
static void dispatch_answer(struct http_request *r, struct http_response *response, const struct http_route *route)
{
	const struct http_config *config = &r->http->config;
	const char *known;
	bool is_guarded = route->scope != HTTP_OPEN && config->guard;
	bool may = !is_guarded || config->guard(config->site, r, response, route->scope);
	if ((route->scope != HTTP_OPEN || !request_is_read(r)) &&
		!take_rate(r)) { /* also a client with a wrong token, by its address */
		http_refuse(r, response, 429);
		return;
	}
	if (!may)
		return;
	r->is_allowed = route->scope != HTTP_OPEN;
	if (http_unknown(r, &known))
		http_refuse(r, response, 400);
	else
		call(r, response, route->handler);
}

/* Answer a complete request by its route, or refuse it. */
static enum MHD_Result http_dispatch(struct http_request *r)
{
	struct http *h = r->http;
	struct http_response response = { .status = r->refused ? r->refused : 404, .type = "text/plain; charset=utf-8" };
	buf_init(&response.body, HTTP_RESPONSE_MAX);
	if (!r->refused && r->body.failed)
		response.status = r->refused = r->body.is_out_of_memory ? 503 : 413;
	const char *method = strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
	for (int i = 0; !r->refused && i < h->config.n_route; i++) {
		if (!route_match(h->route[i].path, r->uri, &r->parts))
			continue;
		if (strcmp(h->route[i].method, method) == 0) {
			response.status = 200;
			r->route = i;
			dispatch_answer(r, &response, &h->route[i]);
			if (response.later)
				return rest(r, &response);
			finish_write(r, &response);
			judge_form(r, &response);
			if (response.stream && !stream_has_position(r))
				http_refuse(r, &response, 503);
			return http_send(r, &response);
		}
		response.status = 405;
	}
	if (response.status == 405)
		response.status = refuse_method(r, &response);
	if (!take_rate(r)) /* a search for addresses, methods or names costs as much as reading */
		response.status = 429;
	http_refuse(r, &response, response.status);
	return http_send(r, &response);
}

/* Refuse a client without permission before it sends its body, which would be buffered. False: `refusal` is written. */
static bool http_may_send_body(struct http_request *r, struct http_response *refusal)
{
	const struct http_config *config = &r->http->config;
	for (int i = 0; i < config->n_route; i++) {
		const struct http_route *route = &r->http->route[i];
		if (strcmp(route->method, r->method) != 0 || !route_match(route->path, r->uri, &r->parts))
			continue;
		if (route->scope == HTTP_OPEN || !config->guard)
			return true;
		*refusal = (struct http_response){ .status = 200, .type = "text/plain; charset=utf-8" };
		buf_init(&refusal->body, HTTP_RESPONSE_MAX);
		r->route = i;
		if (config->guard(config->site, r, refusal, route->scope)) {
			buf_fini(&refusal->body);
			return true;
		}
		if (!take_rate(r))
			http_refuse(r, refusal, 429);
		r->refused = refusal->status;
		return false;
	}
	return true;
}

/* ---- http ---- */

/* ---- callbacks of libmicrohttpd ------------------------------------------------------------------------------------ */

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
		r->refused = request_judge(r);
		/* refuse at once, without waiting for the body */
		if (r->refused)
			return http_dispatch(r);
		if (request_is_read(r))
			return MHD_YES;
		if (!http_may_send_body(r, &refusal))
			return http_send(r, &refusal);
		r->refused = request_begin_upload(r);
		return r->refused ? http_dispatch(r) : MHD_YES;
	}
	if (*upload_size) {
		request_take_body(r, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	return r->later ? http_request_again(r) : http_dispatch(r);
}

static void completed(void *arg, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode code)
{
	(void)arg, (void)code;
	struct connection *c = connection_of(connection);
	if (c) {
		c->phase = PHASE_IDLE;
		c->since_ns = http_clock_ns(c->http);
	}
	struct http_request *r = *request;
	if (r && r->later)
		call(r, NULL, r->later);
	if (c && c->request == r)
		c->request = NULL;
	request_free(r);
	*request = NULL;
}

static void log_library(void *arg, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static void log_library(void *arg, const char *format, va_list args)
{
	(void)arg;
	char text[256];
	vsnprintf(text, sizeof text, format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http.library", "err=%s", log_quote(text));
}

/* One descriptor for the loop: an epoll with libmicrohttpd's epoll and the sockets of suspended connections. */
static int watch_all(struct http *h, struct fw_err *err)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event ready = { .events = EPOLLIN };
	h->fd = epoll_create1(EPOLL_CLOEXEC);
	if (!info || h->fd < 0 || epoll_ctl(h->fd, EPOLL_CTL_ADD, info->epoll_fd, &ready) != 0)
		return err_sys(err, "cannot poll the HTTP sockets");
	return 0;
}

static void name_hosts(struct http *h, const char *host)
{
	/* exact names: another name that resolves to this address is an attack (DNS rebinding) */
	snprintf(h->hosts[0], sizeof h->hosts[0], "127.0.0.1:%d", h->port);
	snprintf(h->hosts[1], sizeof h->hosts[1], "localhost:%d", h->port);
	snprintf(h->hosts[2], sizeof h->hosts[2], "[::1]:%d", h->port);
	snprintf(h->hosts[3], sizeof h->hosts[3], strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, h->port);
	for (int i = 0; h->port == (h->config.tls ? 443 : 80) && i < 4; i++)
		*strrchr(h->hosts[i], ':') = '\0'; /* browsers omit the default port */
}

static void http_free(struct http *h)
{
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->fd >= 0)
		close(h->fd);
	certificate_release(h->certificate);
	request_counter_free(h->request_counter);
	rate_free(h->rate);
	rate_free(h->log_ins);
	free(h->route);
	free(h);
}

int http_start(const struct http_config *config, struct http **out, struct fw_err *err)
{
	struct http *h = mem_alloc_zero(1, sizeof *h);
	h->fd = -1;
	h->config = *config;
	h->names = config->names;
	h->route = mem_alloc((size_t)config->n_route * sizeof *h->route);
	h->request_counter = request_counter_new(config->n_route);
	h->rate = config->requests_per_minute > 0 ? rate_new(config->requests_per_minute) : NULL;
	h->log_ins = rate_new(HTTP_LOG_INS_PER_MINUTE);
	struct MHD_OptionItem tls[TLS_OPTIONS];
	int listener = tls_start(h, tls, err) == 0 ? http_listen(config->host, config->port, &h->port, err) : -1;
	if (listener < 0) {
		http_free(h);
		return -1;
	}
	memcpy(h->route, config->route, (size_t)config->n_route * sizeof *h->route);
	name_hosts(h, config->host);
	h->daemon =
		MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (config->tls ? MHD_USE_TLS : 0),
			0, NULL, NULL, answer, h, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, MHD_OPTION_LISTEN_SOCKET,
			listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, 60u,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_URI_LOG_CALLBACK, request_new, h,
			MHD_OPTION_NOTIFY_COMPLETED, completed, h, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h,
			MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!h->daemon) {
		close(listener);
		http_free(h);
		return err_set(err, ERR_INTERNAL, "libmicrohttpd did not start");
	}
	if (watch_all(h, err) != 0) {
		http_free(h);
		return -1;
	}
	*out = h;
	return 0;
}

static void wake_all(struct http *h)
{
	streams_wake(h);
	connections_wake(h);
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	h->stopping = true;
	wake_all(h);
	for (int i = 0; i < 8 && h->connections; i++)
		MHD_run(h->daemon);
	http_free(h);
}

int http_port(const struct http *h)
{
	return h->port;
}

int http_fd(const struct http *h)
{
	return h->fd;
}

int64_t http_clock_ns(const struct http *h)
{
	return clock_mono_ns() - h->paused_ns;
}

/* Enforce the deadlines, about once a second. */
static void sweep(struct http *h)
{
	int64_t mono_ns = clock_mono_ns(), passed_ns = mono_ns - h->swept_ns;
	if (h->connections && passed_ns <= HTTP_SECOND_NS)
		return;
	if (h->connections && passed_ns > PAUSE_MIN_NS) /* http_run is called every second while there are connections */
		h->paused_ns += passed_ns - HTTP_SECOND_NS;
	h->swept_ns = mono_ns;
	connections_sweep(h, http_clock_ns(h));
	streams_sweep(h, http_clock_ns(h));
}

int64_t http_run(struct http *h)
{
	sweep(h);
	poll_sockets(h);
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
	request_counter_each(r->http->request_counter, count_row, &c);
}
