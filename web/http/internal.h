/** internal.h - what the files of this folder share. */
#ifndef WEB_HTTP_INTERNAL_H
#define WEB_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <stdint.h>

#include "web/http/http.h"

/* ---- pairs: "a=1&b=2" of a query or a form, cut and decoded in place. ---- */

enum { PAIRS_MAX = 64 };

struct pairs {
	int n;
	struct {
		char *name, *value;
	} pair[PAIRS_MAX];
};

/** Own: names and values point into `text`, which is changed. Err: -1 for a bad escape, a NUL, or more than PAIRS_MAX. */
int pairs_split(struct pairs *p, char *text);
/** The first value of a name, NULL if absent. */
const char *pairs_get(const struct pairs *p, const char *name);
/** The first name that is none of `known`, which are separated by spaces; NULL: every one is. */
const char *pairs_unknown(const struct pairs *p, const char *known);

/* ---- request_counter: How many requests were answered, by route and status. Pure. ---- */

struct request_counter;

/** For `n_routes` routes; number n_routes stands for requests that no route took. Own: request_counter_free, accepts NULL. */
struct request_counter *request_counter_new(int n_routes);
void request_counter_free(struct request_counter *t);
/** A status that HTTP does not have counts as 500. */
void request_counter_add(struct request_counter *t, int route, int status);

typedef void request_counter_fn(void *arg, int route, int status, uint64_t n);
/** Every count above 0, by route, then by status. */
void request_counter_each(const struct request_counter *t, request_counter_fn *each, void *arg);

/*
 * ---- inside ----
 * What the parts of http.c share, and the only header that knows libmicrohttpd. http.c is its life, connection.c
 * sockets and their deadlines, request.c a request before any handler, http.c who answers it, send.c the answer,
 * stream.c answers without an end.
 */

enum { HTTP_CONNECTIONS_MAX = 1024, HTTP_RESPONSE_MAX = 64 << 20 };
#define HTTP_SECOND_NS INT64_C(1000000000)

struct stream;

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
	size_t answered;        /* bytes of its answer, which are kept until it is read */
	http_handler_fn *later; /* what to ask for the answer, and to tell of the end; NULL: the handler answered */
	bool abandoned;         /* the client closed the connection */
};

struct http {
	struct http_config config;
	struct http_route *route;
	struct request_counter *request_counter; /* of answers */
	struct MHD_Daemon *daemon;
	int port, fd; /* fd: an epoll of libmicrohttpd's own and of the readers of streams */
	char hosts[4][80];
	const char *const *names;
	struct connection *connections;
	int n_connection;
	struct stream *streams;
	int n_stream; /* whose reader is there */
	int64_t swept_ns;
	size_t bodies;  /* bytes in the bodies of all requests */
	size_t answers; /* bytes in answers that are not read yet */
	bool stopping;
};

/* ---- connection.c ---- */

struct connection *connection_of(struct MHD_Connection *c);
/** What libmicrohttpd calls at the beginning and the end of each; `arg` is the struct http. */
void connection_changed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code);
/** End connections past their deadline, and tell answers that rest when nobody waits for them. */
void connections_sweep(struct http *h, int64_t now_ns);
/** Answers that rest are asked again. */
void connections_wake(struct http *h);

/* ---- request.c ---- */

/** What libmicrohttpd calls at the first line. The connection keeps it, so that it goes where nobody tells of its end. */
void *request_new(void *arg, const char *uri, struct MHD_Connection *connection);
void request_free(struct http_request *r);
/** Everything that can be said of a request before its body. Status, 0: go on. */
int request_judge(struct http_request *r);
void request_take_body(struct http_request *r, const char *data, size_t size);
bool request_is_read(const struct http_request *r);

/* ---- http.c ---- */

/* ---- send.c ---- */

/** Queue the answer. Own: takes the response's body. */
enum MHD_Result http_send(struct http_request *r, struct http_response *response);
/** A refusal in the words of the site in place of whatever `response` held. */
void http_refuse(struct http_request *r, struct http_response *response, int status);

/* ---- stream.c ---- */

/** Whether there is a place for one more reader. */
bool stream_has_position(struct http *h);
/** NULL: the connection is gone, or the system refuses to watch it. */
struct MHD_Response *stream_response(struct http_request *r, const struct http_response *response);
/** Let every reader go whose socket says that he left. */
void streams_reap(struct http *h);
/** Comments for those who hear nothing, the end for those who take nothing or have listened for long. */
void streams_sweep(struct http *h, int64_t now_ns);
void streams_wake(struct http *h);

#endif
