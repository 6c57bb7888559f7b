/** http.h - the HTTP server: requests, responses, event streams. */
#ifndef WEB_HTTP_HTTP_H
#define WEB_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"

/*
 * ---- http ----
 * HTTP/1.1 on one thread, with libmicrohttpd (web/http/internal.h).
 *
 * The daemon's loop watches http_fd and calls http_run; handlers run inside that call and must not block. Before it calls a
 * handler, the server checks method, exact Host, unambiguous framing, escapes in the path, size of the body, cross-origin writes,
 * deadlines for slow clients, and the number of open streams.
 */

struct http;
struct http_request;
struct http_response;
struct site; /* context of the handlers; opaque to the server */

/**
 * Write the response. Returns 0; -1 with `err`, which http_config.no_route then writes as the response, unless the handler has
 * set a status of 400 or more and has written the response.
 */
typedef int http_handler_fn(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err);

struct http_response {
	int status;       /* 200 unless the handler sets another */
	const char *type; /* Content-Type, a constant */
	struct buf body;  /* content; of a stream its beginning */
	/**
	 * With quotes; "" none: then JSON, CSV, Markdown and SVG get a weak one. A matching If-None-Match is answered with 304.
	 */
	char etag[80];
	size_t spared;       /* size of a body that was not written because http_knows is true (304); 0: `body` is written */
	const char *cache;   /* Cache-Control; NULL: no-cache */
	char location[2048]; /* "": none */
	char allow[64];      /* with 405 */
	char file[640];      /* path of a file to send instead of body; "": none */
	int64_t file_at, file_bytes; /* its range: offset and length in bytes; length 0: to its end */
	char link[512];              /* Link header, "": none */
	char cookie[384];            /* Set-Cookie, "": none */
	bool logged_in;              /* set by the guard: pages have a log-out button */
	int open_alerts;             /* number that the navigation of pages shows */
	bool is_private;             /* set by the guard: the response depends on the user; shared caches must not store it */
	bool is_picture;             /* pages of other sites may embed it */
	/** Set for an event stream: append the events after *cursor and advance *cursor. Called again after every http_notify. */
	void (*stream)(struct site *site, int64_t *cursor, struct buf *out);
	int64_t cursor;
	/**
	 * Set for a deferred response: the connection is suspended, and the server calls this like a handler after every
	 * http_notify, until it leaves `later` unset. A last call with `response` NULL follows when the request has ended, with
	 * or without a response.
	 */
	http_handler_fn *later;
};

/** Permission that a request needs; each includes those before it. */
enum http_scope { HTTP_OPEN, HTTP_READ, HTTP_TRIGGER, HTTP_ADMIN };

/** One route. `path` may have up to ROUTE_SEGMENTS_MAX segments "{name}", which the handler reads with http_segment. */
struct http_route {
	const char *method; /* "GET" (includes HEAD) or "POST" */
	const char *path;
	http_handler_fn *handler;
	enum http_scope scope;
	const char *query; /* accepted arguments, separated by spaces; others are rejected (400); NULL: all are accepted */
	const struct api_operation *operation; /* description for the API document; the server does not read it. NULL: none */
};

/**
 * Limits of bodies: 1 MiB, or HTTP_UPLOAD_MAX for a path of http_config.uploads. HTTP_UPLOADS_MAX uploads are read at the same
 * time, one of each token; another one is rejected (503). An upload of which no byte arrives for HTTP_UPLOAD_IDLE_S is ended. Of
 * an upload that is too large up to HTTP_UPLOAD_READ_MAX bytes are read and dropped, so that a browser shows the response (413).
 */
enum { HTTP_UPLOAD_FILE_MAX = 16 << 20, HTTP_UPLOAD_MAX = 2 * HTTP_UPLOAD_FILE_MAX + (64 << 10) };
enum { HTTP_UPLOADS_MAX = 2, HTTP_UPLOAD_IDLE_S = 20, HTTP_UPLOAD_READ_MAX = 256 << 20 };

/** The files of HTTPS. */
struct http_tls {
	const char *certificate; /* in PEM: that of the server, then its issuers */
	const char *key_file;    /* its private key, in PEM; only its owner may read it */
	int64_t hsts_s;          /* seconds for which browsers use only HTTPS with this host; 0: they may use HTTP again */
};

enum { HTTP_LOG_INS_PER_MINUTE = 20, HTTP_CLIENT_MAX = 96 };

struct http_config {
	const char *host;           /* numeric address to listen on */
	int port;                   /* 0: any free one */
	const struct http_tls *tls; /* NULL: plain HTTP */
	const struct http_route *route;
	int n_route;
	struct site *site; /* passed to every handler */
	http_handler_fn
		*no_route; /* writes the error of a handler, or without an error the refusal for response->status, such as 404 */
	const char *const *names;   /* further accepted values of Host, NULL-terminated; NULL: none */
	int requests_per_minute;    /* of a token, or of an address without one; loopback has no limit. 0: no limits */
	const char *const *uploads; /* paths whose POST may have a body of HTTP_UPLOAD_MAX bytes, NULL-terminated; NULL: none */
	/**
	 * Called before every handler of a route that is not HTTP_OPEN: whether the client has `scope`. False: the refusal is
	 * written. NULL: all clients have every scope.
	 */
	bool (*guard)(struct site *site, struct http_request *request, struct http_response *response, enum http_scope scope);
	/** Called after the handler of a POST that the guard allowed, before the answer is sent. NULL: none. */
	void (*after)(
		struct site *site, struct http_request *request, const struct http_response *response, enum http_scope scope);
};

/**
 * Bind and listen. Own: http_stop. Err: ERR_BUSY if the port is in use; ERR_IO if the certificate cannot be used, which may be
 * temporary: a renewal writes two files.
 */
int http_start(const struct http_config *config, struct http **out, struct fw_err *err);
/** Close all connections; calls `later` of deferred responses a last time. Accepts NULL. */
void http_stop(struct http *h);
/** Return the port on which the server listens. */
int http_port(const struct http *h);
/** Return the descriptor to watch for EPOLLIN. */
int http_fd(const struct http *h);
/** Serve all ready sockets. Returns the ms after which it must be called again; -1: only when the descriptor is ready. */
int64_t http_run(struct http *h);
/** Wake streams and deferred responses. Call after each change of the database. */
void http_notify(struct http *h);

/**
 * Check the files as http_start, without a server. Units: `*expires_at`, ms UTC; it may be past. Err: ERR_INVALID names the file.
 */
int http_check_tls(const struct http_tls *tls, int64_t *expires_at, struct fw_err *err);
/**
 * Use these files for further connections of a server that has TLS; open connections continue. Err: -1, and only hsts_s changes,
 * if the files are invalid, or if the new certificate is not valid now and the present one is.
 */
int http_renew_tls(struct http *h, const struct http_tls *tls, struct fw_err *err);
/** Return the time at which the certificate expires; 0: no TLS. Units: ms UTC. */
int64_t http_tls_expires_at(const struct http *h);

/* For handlers. All strings are valid until the handler returns. */
/** Return the path. */
const char *http_path(const struct http_request *r);
/** Return the value of the i-th segment "{...}" of the route, from 0. */
const char *http_segment(const struct http_request *r, int i);
/** Return a decoded argument of the query; NULL: it is missing. */
const char *http_query(const struct http_request *r, const char *name);
/** Return the `n`-th value, from 0, of an argument that is given several times; NULL: there are fewer. */
const char *http_query_at(const struct http_request *r, const char *name, int n);
/** Return the first argument that the route does not accept; NULL: there is none. `*known` lists the accepted ones. */
const char *http_unknown(const struct http_request *r, const char **known);
/** Append the path, and the name and value of every argument, each with its final NUL: equal only for equal requests. */
void http_identify(const struct http_request *r, struct buf *out);
/** Return a header of the request; NULL: it is missing. */
const char *http_header(const struct http_request *r, const char *name);
/** Return the table of routes of http_start. Shape: `*n` rows. */
const struct http_route *http_routes(const struct http_request *r, int *n);
/** Return whether the client has the version `etag` (with quotes), so that the response is 304 without a body. */
bool http_knows(const struct http_request *r, const char *etag);
/** Return a cookie of the request; NULL: it is missing. */
const char *http_cookie(const struct http_request *r, const char *name);
/** Return the user of the request, as the guard has set it; "local": none. */
const char *http_who(const struct http_request *r);
/** Set the user, whose requests then count together. */
void http_set_who(struct http_request *r, const char *who);
/** Count a read that needs no token but takes time. Returns false if the client has sent too many: respond with 429. */
bool http_count(struct http_request *r);
/**
 * Count a step of a log-in, as http_count. An address may request HTTP_LOG_INS_PER_MINUTE of them, whatever requests_per_minute
 * is. `client` receives the identity of the address; "": a program that connects over loopback, which has no limit.
 */
bool http_count_log_in(struct http_request *r, char client[HTTP_CLIENT_MAX]);
/** End the request's event stream at this time, when its token expires. Units: ms UTC; 0: never. */
void http_set_expiry(struct http_request *r, int64_t expires_at);
/** End all streams, because a token was revoked: clients with a valid token reconnect and continue. */
void http_end_streams(const struct http_request *r);
/** Do the same outside of a request. */
void http_end_all_streams(struct http *h);
typedef void http_count_fn(void *arg, const char *method, const char *route, int status, uint64_t n);
/** Call `each` for the number of answered requests of each route ("": none) and status. */
void http_each_count(const struct http_request *r, http_count_fn *each, void *arg);
/** Return the body of a POST, NUL-terminated. `*len` receives its length. */
const char *http_body(const struct http_request *r, size_t *len);
/** Return a field of a body of type application/x-www-form-urlencoded; NULL: it is missing. */
const char *http_form(struct http_request *r, const char *name);
/** Read the i-th field of such a body, from 0. Returns 1; 0 if there are no more; -1 if the body is not a valid form. */
int http_form_field(struct http_request *r, int i, const char **name, const char **value);

/* ---- listen: The listening socket. ---- */

/**
 * Listen on an address, IPv4 or IPv6. `port` 0: any free one. Returns the descriptor, or -1; `*bound` receives the port. Own:
 * close. Err: ERR_INVALID if `host` is not an address, ERR_BUSY if the port is in use.
 */
int http_listen(const char *host, int port, int *bound, struct fw_err *err);

/* ---- media: Content negotiation by the Accept header. Pure. ---- */

/**
 * Return the weight of `type` in `accept` (value of the header, NULL: missing), from 0, not acceptable, to 1. The most specific
 * range decides, as in RFC 9110. Parameters of `type` after ';' and malformed ranges are ignored.
 */
double media_quality(const char *accept, const char *type);
/** Return whether the header Accept-Encoding (NULL: missing) accepts gzip. Without the header no response is compressed. */
bool media_accepts_gzip(const char *accept);

/*
 * ---- multipart ----
 * Parts of a body of type multipart/form-data (RFC 7578), as browsers and curl write it: fields of a form with files. Pure.
 */

struct multipart_part {
	char name[64];    /* of the field */
	char file[256];   /* name of the file, as the client wrote it; "": none */
	const char *data; /* Own: points into the body */
	size_t len;
};

/** Return whether a Content-Type (NULL: absent) is multipart/form-data. */
bool multipart_is(const char *type);
/**
 * Read the part at offset `*at`, 0 for the first one, and move `*at` after it. `type`: the Content-Type, which has the boundary.
 * Returns 1; 0 after the last part; -1 if the body or its type is malformed, or a name is too long. Shape: body[len].
 */
int multipart_next(const char *type, const char *body, size_t len, size_t *at, struct multipart_part *out);

/* ---- route: Paths of requests: validation, and matching with the patterns of the table. ---- */

enum { ROUTE_PATH_MAX = 512, ROUTE_SEGMENTS_MAX = 4 };

/** Values of the "{...}" segments of a matching path. */
struct route_parts {
	int n;
	char *part[ROUTE_SEGMENTS_MAX];
	char text[ROUTE_PATH_MAX];
};

/**
 * Return whether `path` has only letters, digits and "./_-~", no "..", no "//", and is shorter than ROUTE_PATH_MAX. All paths of
 * the server are plain; a proxy may interpret others differently.
 */
bool route_is_plain(const char *path);

/**
 * Return whether a plain `path` matches `pattern`, whose "{name}" matches one segment and may have a suffix ("{id}.csv").
 * Own: out->part points into out->text.
 */
bool route_match(const char *pattern, const char *path, struct route_parts *out);

#endif
