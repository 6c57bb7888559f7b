/** internal.h - shared by the files of this folder. */
#ifndef WEB_HTTP_INTERNAL_H
#define WEB_HTTP_INTERNAL_H

#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <stdint.h>
#include <sys/socket.h>

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
 * ---- rate ----
 * Number of requests of each client in a minute, which begins with its first request. Pure.
 */

enum { RATE_WINDOW_MS = 60 * 1000, RATE_KEY_MAX = HTTP_CLIENT_MAX };

struct rate;

/** Remaining requests of a client, as in the headers RateLimit-Limit, -Remaining and -Reset. */
struct rate_state {
	int limit; /* requests a minute; 0: this client has no limit */
	int remaining;
	int reset_s; /* until the next minute of this client begins */
};

/** Shape: per_minute >= 1. Own: rate_free, accepts NULL. */
struct rate *rate_new(int per_minute);
void rate_free(struct rate *rate);
/** Count a request of client `key`. False: the client has used its requests; then the request is not counted. */
bool rate_take(struct rate *rate, const char *key, int64_t now_ms, struct rate_state *out);
/**
 * Write the key of a client without a token: its address, or the /64 of an IPv6 address. `address` may be NULL; `forwarded` is
 * the header X-Forwarded-For (NULL: absent), which counts only for connections through loopback. False: a program that connects
 * through loopback, without a proxy.
 */
bool rate_key_of_address(const struct sockaddr *address, const char *forwarded, char key[RATE_KEY_MAX]);

/*
 * ---- inside ----
 * The only header that includes libmicrohttpd and GnuTLS. http.c: start, loop and end of the server, and dispatch of requests to
 * handlers; connection.c: sockets and their deadlines; tls.c: HTTPS; request.c: checks and arguments of a request; send.c: the
 * answer; gzip.c: its compression; stream.c: event streams.
 */

enum { HTTP_CONNECTIONS_MAX = 1024, HTTP_RESPONSE_MAX = 64 << 20 };
#define HTTP_SECOND_NS INT64_C(1000000000)

struct stream;

/* A socket in http.fd, which libmicrohttpd does not poll because the connection is suspended, and what to do when it is ready. */
struct polled {
	void (*on_ready)(struct polled *p);
};

/* A socket. Deadlines are absolute: libmicrohttpd's timeout is for inactivity, which a client that sends single bytes avoids. */
struct connection {
	struct polled polled; /* the first member; during the handshake */
	struct MHD_Connection *connection;
	struct connection *next, *previous;
	struct http *http;
	int fd;
	struct certificate *certificate; /* of its handshake; NULL: plain HTTP, or no handshake yet */
	bool has_begun;                  /* with TLS: the client's first byte was checked */
	bool shakes_hands;               /* the handshake is not over: the client still has to send part of it */
	bool awaits_client;              /* suspended until the client sends more of its handshake */
	int64_t since_ns;                /* start of `phase`, http_clock_ns */
	enum { PHASE_FIRST, PHASE_IDLE, PHASE_UPLOAD, PHASE_REST, PHASE_ANSWER, PHASE_FILE, PHASE_STREAM } phase;
	struct http_request
		*request; /* not completed; freed with the connection if libmicrohttpd does not report its end; NULL: none */
	struct http_request *resting; /* suspended until its deferred answer is ready; NULL: none */
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	bool begun;      /* its headers were checked */
	int route;       /* index in the table, n_route none */
	int refused;     /* status of a refusal before the body was read, 0: none */
	bool is_allowed; /* the guard allowed it; false also on open routes, which have none */
	const char *method;
	char *uri; /* raw, split into path and query */
	struct pairs query;
	struct route_parts parts;
	struct buf body;
	char *form_text;
	struct pairs form;
	char who[64];
	bool has_token; /* `who` is the name of a token */
	struct rate_state rate;
	int64_t expires_at;     /* of its token, ms UTC; 0: never */
	size_t answered;        /* bytes of its answer, in memory until the client has read it */
	http_handler_fn *later; /* called for a deferred answer and at the end of the request; NULL: the handler answered */
	bool logged_in;         /* of a deferred answer: set by the guard, as in struct http_response */
	int open_alerts;
	bool is_private;
	bool abandoned;      /* the client closed the connection */
	bool is_upload;      /* one of HTTP_UPLOADS_MAX; its body is not part of the memory that other bodies share */
	int64_t received_ns; /* http_clock_ns of the last bytes of an upload */
};

struct http {
	struct http_config config;
	struct http_route *route;
	struct request_counter *request_counter;
	struct rate *rate; /* NULL: no limits */
	struct rate *log_ins;
	struct MHD_Daemon *daemon;
	struct certificate *certificate; /* of further handshakes; NULL: plain HTTP */
	int64_t hsts_s;
	int port, fd; /* fd: an epoll with the epoll of libmicrohttpd, and struct polled */
	char hosts[4][80];
	const char *const *names;
	struct connection *connections;
	int n_connection;
	struct stream *streams;
	int n_stream;      /* streams whose client is connected */
	int64_t swept_ns;  /* clock_mono_ns() of the last sweep */
	int64_t paused_ns; /* time in which the daemon did not serve: see http_clock_ns */
	size_t bodies;     /* bytes in the bodies of all requests except uploads */
	int n_uploads;     /* requests with is_upload */
	int n_packers;     /* answers that are being compressed */
	size_t answers;    /* bytes in answers that clients have not read yet */
	bool stopping;
};

/* ---- http.c ---- */

/**
 * The clock of all deadlines of clients, in ns. It stops while the daemon does not serve (a suspended machine, a paused
 * virtual machine, a stalled disk), because clients cannot make progress then.
 */
int64_t http_clock_ns(const struct http *h);

/* ---- connection.c ---- */

struct connection *connection_of(struct MHD_Connection *c);
/** Called by libmicrohttpd at the start and end of each connection; `arg` is the struct http. */
void connection_changed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code);
/** Close connections past their deadline, and mark deferred answers as abandoned whose client has disconnected. */
void connections_sweep(struct http *h, int64_t now_ns);
/** Resume suspended requests, which call `later` again, and while the server stops also unfinished handshakes. */
void connections_wake(struct http *h);
/** Call on_ready of each struct polled whose socket is ready. */
void poll_sockets(struct http *h);

/* ---- certificate.c: A certificate with its issuers, and its private key. Counts its references. ---- */

struct certificate;

/**
 * Read and check the files: PEM, the issuers in order, a key without passphrase that only its owner may read and that belongs to
 * the first certificate. The period is not checked. Own: certificate_release. Err: ERR_INVALID with the file, or as secret_open.
 */
int certificate_load(const char *path, const char *key_file, struct certificate **out, struct fw_err *err);
struct certificate *certificate_share(struct certificate *c);
/** Accepts NULL. */
void certificate_release(struct certificate *c);
/** End of the period of the first certificate. Units: ms UTC. */
int64_t certificate_expires_at(const struct certificate *c);
/** Err: ERR_INVALID the certificate has expired, or is not valid yet. */
int certificate_check_time(const struct certificate *c, int64_t now_ms, struct fw_err *err);
/** Warn in the log if that of an issuer has expired. */
void certificate_log_issuers(const struct certificate *c, int64_t now_ms);
/** The certificates, the server's first. Shape: *n. Own: `c`. */
const gnutls_pcert_st *certificate_chain(const struct certificate *c, unsigned *n);
gnutls_privkey_t certificate_key(const struct certificate *c);

/* ---- tls.c ---- */

enum { TLS_OPTIONS = 3 };

/** Read the certificate of h->config.tls and write libmicrohttpd's options for it; without it, none. Err: as certificate_load. */
int tls_start(struct http *h, struct MHD_OptionItem options[TLS_OPTIONS], struct fw_err *err);
/** Prepare the TLS of a new connection, if the server has TLS. */
void tls_begin(struct connection *c, struct MHD_Connection *connection);
/** Resume a connection that waits for its client's part of the handshake. */
void tls_wake(struct connection *c);

/* ---- request.c ---- */

/** Called by libmicrohttpd at the request line. Own: the connection, which frees it if its end is not reported. */
void *request_new(void *arg, const char *uri, struct MHD_Connection *connection);
void request_free(struct http_request *r);
/** Check a request before its body is read. Status of the refusal; 0: accepted. */
int request_judge(struct http_request *r);
/** Reserve memory and time for a large body, after the guard. Status of the refusal; 0: accepted. */
int request_begin_upload(struct http_request *r);
void request_take_body(struct http_request *r, const char *data, size_t size);
bool request_is_read(const struct http_request *r);

/* ---- gzip.c ---- */

/** Return whether the answer would be compressed: its type and size, the client's Accept-Encoding, and no secret in it. */
bool gzip_is_wanted(const struct http_request *r, const struct http_response *response);
/** Create the compressed answer. Own: takes the response's body. NULL, and the body stays: too many at once, or no memory. */
struct MHD_Response *gzip_response(struct http_request *r, struct http_response *response);

/* ---- send.c ---- */

/** Queue the answer. Own: takes the response's body. */
enum MHD_Result http_send(struct http_request *r, struct http_response *response);
/** Replace `response` by a refusal that http_config.no_route writes. */
void http_refuse(struct http_request *r, struct http_response *response, int status);

/* ---- stream.c ---- */

/** Return whether one more stream is allowed: one token cannot have all, so that others stay possible. */
bool stream_has_position(const struct http_request *r);
/** Create the response of a stream. NULL: the connection is closed, or epoll failed. */
struct MHD_Response *stream_response(struct http_request *r, const struct http_response *response);
/** Send a comment to idle streams; end streams whose client reads nothing, whose token has expired, and old ones. */
void streams_sweep(struct http *h, int64_t now_ns);
void streams_wake(struct http *h);

#endif
