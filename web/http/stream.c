/*
 * stream.c - event streams. A connection is suspended while there are no new events, and libmicrohttpd does not poll it then: the
 * sockets are in a separate epoll, so that a client that disconnects frees its slot at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "web/http/internal.h"

enum { STREAM_LIMIT = 128, STREAM_TOKEN_LIMIT = 96 /* of one token */, STREAM_BACKLOG_MAX = 1 << 20 };
#define STREAM_COMMENT_NS (15 * HTTP_SECOND_NS)   /* interval of comments, to detect a client whose machine is gone */
#define STREAM_STALLED_NS (60 * HTTP_SECOND_NS)   /* a client that reads nothing although there is data */
#define STREAM_LIFE_NS    (3600 * HTTP_SECOND_NS) /* then the client reconnects and is authenticated again */

struct stream {
	struct polled polled; /* the first member */
	struct stream *next, *previous;
	struct http *http;
	struct MHD_Connection *connection;
	int fd;
	void (*fill)(struct site *site, int64_t *cursor, struct buf *out);
	int64_t cursor;
	struct buf pending;
	int64_t since_ns, read_ns; /* start; last data sent: http_clock_ns */
	int64_t expires_at;        /* of its token, ms UTC; 0: never */
	char who[64];              /* name of its token; "" none */
	bool suspended, ended, gone /* slot is freed */;
};

static void wake(struct stream *s)
{
	if (!s->suspended)
		return;
	s->suspended = false;
	MHD_resume_connection(s->connection);
}

/* Free the slot of a stream without a reader before libmicrohttpd closes its connection. */
static void let_go(struct stream *s)
{
	if (s->gone)
		return;
	s->gone = s->ended = true;
	s->http->n_stream--;
	epoll_ctl(s->http->fd, EPOLL_CTL_DEL, s->fd, NULL);
	shutdown(s->fd, SHUT_RDWR);
	wake(s);
}

static void on_left(struct polled *p)
{
	let_go((struct stream *)p);
}

static bool is_expired(const struct stream *s)
{
	return s->expires_at && s->expires_at <= clock_utc_ms();
}

static ssize_t stream_read(void *arg, uint64_t position, char *out, size_t max)
{
	(void)position;
	struct stream *s = arg;
	if (s->http->stopping || s->ended || is_expired(s))
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (s->pending.len == 0)
		s->fill(s->http->config.site, &s->cursor, &s->pending);
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
	s->read_ns = http_clock_ns(s->http);
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
	if (!s->gone) {
		s->http->n_stream--;
		epoll_ctl(s->http->fd, EPOLL_CTL_DEL, s->fd, NULL);
	}
	buf_fini(&s->pending);
	free(s);
}

/* How many streams a token has. */
static int count_of(const struct http *h, const char *who)
{
	int n = 0;
	for (const struct stream *s = h->streams; s; s = s->next)
		n += !s->gone && strcmp(s->who, who) == 0;
	return n;
}

static bool has_position(const struct http_request *r)
{
	return r->http->n_stream < STREAM_LIMIT && (!r->has_token || count_of(r->http, r->who) < STREAM_TOKEN_LIMIT);
}

bool stream_has_position(const struct http_request *r)
{
	if (!has_position(r))
		poll_sockets(r->http);
	return has_position(r);
}

struct MHD_Response *stream_response(struct http_request *r, const struct http_response *response)
{
	const struct connection *c = connection_of(r->connection);
	if (!c)
		return NULL;
	struct stream *s = mem_alloc_zero(1, sizeof *s);
	s->polled.on_ready = on_left;
	s->http = r->http;
	s->connection = r->connection;
	s->fd = c->fd;
	s->fill = response->stream;
	s->cursor = response->cursor;
	s->since_ns = s->read_ns = http_clock_ns(s->http);
	s->expires_at = r->expires_at;
	snprintf(s->who, sizeof s->who, "%s", r->has_token ? r->who : "");
	buf_init(&s->pending, STREAM_BACKLOG_MAX);
	buf_puts(&s->pending, "retry: 3000\n\n");
	buf_append(&s->pending, response->body.data, response->body.len);
	s->next = s->http->streams;
	if (s->next)
		s->next->previous = s;
	s->http->streams = s;
	s->http->n_stream++;
	struct epoll_event left = { .events = EPOLLRDHUP, .data.ptr = &s->polled };
	struct MHD_Response *m = NULL;
	if (epoll_ctl(s->http->fd, EPOLL_CTL_ADD, s->fd, &left) == 0)
		m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, stream_read, s, stream_free);
	else
		log_error("http.stream", "err=%s", log_quote(strerror(errno)));
	if (!m)
		stream_free(s);
	return m;
}

void streams_sweep(struct http *h, int64_t now_ns)
{
	for (struct stream *s = h->streams; s; s = s->next) {
		if (!s->suspended) {
			if (now_ns - s->read_ns > STREAM_STALLED_NS)
				let_go(s);
		} else if (now_ns - s->since_ns > STREAM_LIFE_NS || is_expired(s)) {
			s->ended = true;
			wake(s);
		} else if (now_ns - s->read_ns > STREAM_COMMENT_NS) {
			buf_puts(&s->pending, ": still here\n\n");
			wake(s);
		}
	}
}

void streams_wake(struct http *h)
{
	for (struct stream *s = h->streams; s; s = s->next)
		wake(s);
}

void http_end_all_streams(struct http *h)
{
	for (struct stream *s = h->streams; s; s = s->next)
		s->ended = true;
	streams_wake(h);
}

void http_end_streams(const struct http_request *r)
{
	http_end_all_streams(r->http);
}
