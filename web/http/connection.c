/* connection.c - sockets: their phases, the deadline of each phase, and disconnected clients. */
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "web/http/internal.h"

enum { POLLED_AT_ONCE = 64 };
#define REQUEST_DEADLINE_NS   (10 * HTTP_SECOND_NS)  /* connect to last byte of the first request */
#define KEEPALIVE_DEADLINE_NS (60 * HTTP_SECOND_NS)  /* answer to last byte of the next request */
#define UPLOAD_DEADLINE_NS    (120 * HTTP_SECOND_NS) /* headers to last byte of an upload */
#define RESPONSE_DEADLINE_NS  (60 * HTTP_SECOND_NS)  /* request to last byte of its answer */
#define FILE_DEADLINE_NS      (600 * HTTP_SECOND_NS) /* the same for a file, which may be large */
#define CROWDED_DEADLINE_NS   HTTP_SECOND_NS         /* unfinished request while over 3/4 of HTTP_CONNECTIONS_MAX are in use */

struct connection *connection_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static void begin(struct http *h, struct MHD_Connection *connection, void **context)
{
	struct connection *c = mem_alloc_zero(1, sizeof *c);
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	c->http = h;
	c->connection = connection;
	c->fd = info ? info->connect_fd : -1;
	c->since_ns = http_clock_ns(h);
	c->next = h->connections;
	if (c->next)
		c->next->previous = c;
	h->connections = c;
	h->n_connection++;
	tls_begin(c, connection);
	*context = c;
}

static void end(struct http *h, void **context)
{
	struct connection *c = *context;
	if (c->previous)
		c->previous->next = c->next;
	else
		h->connections = c->next;
	if (c->next)
		c->next->previous = c->previous;
	h->n_connection--;
	request_free(c->request);
	certificate_release(c->certificate);
	free(c);
	*context = NULL;
}

void connection_changed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin(arg, connection, context);
	else if (*context)
		end(arg, context);
}

static void wake(struct connection *c)
{
	struct MHD_Connection *connection = c->resting->connection;
	c->resting = NULL;
	MHD_resume_connection(connection);
}

void connections_wake(struct http *h)
{
	for (struct connection *c = h->connections; c; c = c->next)
		if (c->resting)
			wake(c);
		else if (h->stopping)
			tls_wake(c);
}

void poll_sockets(struct http *h)
{
	struct epoll_event event[POLLED_AT_ONCE];
	int n;
	do {
		n = epoll_wait(h->fd, event, POLLED_AT_ONCE, 0);
		for (int i = 0; i < n; i++) {
			struct polled *p = event[i].data.ptr;
			if (p) /* NULL: libmicrohttpd's epoll */
				p->on_ready(p);
		}
	} while (n == POLLED_AT_ONCE);
}

static int64_t deadline_of(const struct http *h, const struct connection *c)
{
	bool crowded = h->n_connection > HTTP_CONNECTIONS_MAX * 3 / 4;
	if (c->phase == PHASE_STREAM || c->phase == PHASE_REST)
		return INT64_MAX;
	if (c->phase == PHASE_FILE)
		return FILE_DEADLINE_NS;
	if (c->phase == PHASE_UPLOAD)
		return UPLOAD_DEADLINE_NS;
	if (c->phase == PHASE_ANSWER)
		return RESPONSE_DEADLINE_NS;
	if (crowded)
		return CROWDED_DEADLINE_NS;
	return c->phase == PHASE_FIRST ? REQUEST_DEADLINE_NS : KEEPALIVE_DEADLINE_NS;
}

static bool is_too_late(const struct http *h, const struct connection *c, int64_t now_ns)
{
	bool is_idle =
		c->phase == PHASE_UPLOAD && c->request && now_ns - c->request->received_ns > HTTP_UPLOAD_IDLE_S * HTTP_SECOND_NS;
	return is_idle || now_ns - c->since_ns > deadline_of(h, c);
}

/* libmicrohttpd does not poll a suspended connection. */
static bool has_hung_up(const struct connection *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	return c->fd >= 0 && poll(&p, 1, 0) > 0;
}

void connections_sweep(struct http *h, int64_t now_ns)
{
	for (struct connection *c = h->connections; c; c = c->next) {
		if (is_too_late(h, c, now_ns) && c->fd >= 0)
			shutdown(c->fd, SHUT_RDWR);
		/* The phase decides, not `resting`: a request that was just woken has none, perhaps at every sweep. */
		if (c->phase == PHASE_REST && c->request && has_hung_up(c)) {
			c->request->abandoned = true;
			if (c->resting)
				wake(c);
		}
	}
}
