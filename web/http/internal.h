/** internal.h - shared by the files of this folder. */
#ifndef WEB_HTTP_INTERNAL_H
#define WEB_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <stdint.h>

#include "web/http/http.h"

/* ---- pairs: "a=1&b=2" of a query or a form, split and decoded in place. ---- */

enum { PAIRS_MAX = 64 };

struct pairs {
	int n;
	struct {
		char *name, *value;
	} pair[PAIRS_MAX];
};

/** Own: names and values point into `text`, which is changed. Err: -1 for a bad escape, a NUL, or more than PAIRS_MAX pairs. */
int pairs_split(struct pairs *p, char *text);
/** The first value of a name, NULL if absent. */
const char *pairs_get(const struct pairs *p, const char *name);
/** The first name that is not in `known`, a list separated by spaces; NULL: all are. */
const char *pairs_unknown(const struct pairs *p, const char *known);

/* ---- request_counter: Number of answered requests by route and status. Pure. ---- */

struct request_counter;

/** For `n_routes` routes; index n_routes counts requests that matched no route. Own: request_counter_free, accepts NULL. */
struct request_counter *request_counter_new(int n_routes);
void request_counter_free(struct request_counter *t);
/** Count a request. A status outside HTTP's range counts as 500. */
void request_counter_add(struct request_counter *t, int route, int status);

typedef void request_counter_fn(void *arg, int route, int status, uint64_t n);
/** Call `each` for every count above 0, ordered by route, then by status. */
void request_counter_each(const struct request_counter *t, request_counter_fn *each, void *arg);

/*
 * ---- inside ----
 * The only header that includes libmicrohttpd. http.c: start, loop and end of the server, and dispatch of requests to handlers;
 * connection.c: sockets and their deadlines; request.c: checks and arguments of a request; send.c: the answer; stream.c: event
 * streams.
 */

enum { HTTP_CONNECTIONS_MAX = 1024, HTTP_RESPONSE_MAX = 64 << 20 };
#define HTTP_SECOND_NS INT64_C(1000000000)

struct stream;

/* A socket. Deadlines are absolute: libmicrohttpd's timeout is for inactivity, which a client that sends single bytes avoids. */
struct connection {
	struct connection *next, *previous;
	int fd;
	int64_t since_ns; /* start of `phase` */
	enum { PHASE_FIRST, PHASE_IDLE, PHASE_REST, PHASE_ANSWER, PHASE_FILE, PHASE_STREAM } phase;
	struct http_request
		*request; /* not completed; freed with the connection if libmicrohttpd does not report its end; NULL none */
	struct http_request *resting; /* suspended until its deferred answer is ready; NULL none */
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	bool begun;  /* its headers were checked */
	int route;   /* index in the table, n_route none */
	int refused; /* status of a refusal before the body was read, 0 none */
	const char *method;
	char *uri; /* raw, split into path and query */
	struct pairs query;
	struct route_parts parts;
	struct buf body;
	char *form_text;
	struct pairs form;
	char who[64];
	size_t answered;        /* bytes of its answer, in memory until the client has read it */
	http_handler_fn *later; /* called for a deferred answer and at the end of the request; NULL: the handler answered */
	bool abandoned;         /* the client closed the connection */
};

struct http {
	struct http_config config;
	struct http_route *route;
	struct request_counter *request_counter;
	struct MHD_Daemon *daemon;
	int port, fd; /* fd: an epoll with the epoll of libmicrohttpd and the sockets of streams */
	char hosts[4][80];
	const char *const *names;
	struct connection *connections;
	int n_connection;
	struct stream *streams;
	int n_stream; /* streams whose client is connected */
	int64_t swept_ns;
	size_t bodies;  /* bytes in the bodies of all requests */
	size_t answers; /* bytes in answers that clients have not read yet */
	bool stopping;
};

/* ---- connection.c ---- */

struct connection *connection_of(struct MHD_Connection *c);
/** Called by libmicrohttpd at the start and end of each connection; `arg` is the struct http. */
void connection_changed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code);
/** Close connections past their deadline, and mark deferred answers as abandoned whose client has disconnected. */
void connections_sweep(struct http *h, int64_t now_ns);
/** Resume suspended requests: they call `later` again. */
void connections_wake(struct http *h);

/* ---- request.c ---- */

/** Called by libmicrohttpd at the request line. Own: the connection, which frees it if its end is not reported. */
void *request_new(void *arg, const char *uri, struct MHD_Connection *connection);
void request_free(struct http_request *r);
/** Check a request before its body is read. Status of the refusal; 0: accepted. */
int request_judge(struct http_request *r);
void request_take_body(struct http_request *r, const char *data, size_t size);
bool request_is_read(const struct http_request *r);

/* ---- send.c ---- */

/** Queue the answer. Own: takes the response's body. */
enum MHD_Result http_send(struct http_request *r, struct http_response *response);
/** Replace `response` by a refusal that http_config.no_route writes. */
void http_refuse(struct http_request *r, struct http_response *response, int status);

/* ---- stream.c ---- */

/** Whether one more stream is allowed. */
bool stream_has_position(struct http *h);
/** Create the response of a stream. NULL: the connection is closed, or epoll failed. */
struct MHD_Response *stream_response(struct http_request *r, const struct http_response *response);
/** End every stream whose client has disconnected. */
void streams_reap(struct http *h);
/** Send a comment to idle streams; end streams whose client reads nothing, and old ones. */
void streams_sweep(struct http *h, int64_t now_ns);
void streams_wake(struct http *h);

#endif
