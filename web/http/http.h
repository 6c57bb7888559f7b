/** http.h - the server: requests, answers, event streams. */
#ifndef WEB_HTTP_HTTP_H
#define WEB_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"

/*
 * ---- http ----
 * HTTP/1.1 on one thread, by libmicrohttpd (web/http/internal.h).
 *
 * The daemon's loop watches http_fd and calls http_run; handlers run inside that call and must not block. The server checks
 * before it calls a handler: method, exact Host, unambiguous framing, escapes in the path, size of the body, cross-origin writes,
 * absolute deadlines for slow clients, and the number of open streams.
 */

struct http;
struct http_request;
struct http_response;
struct site; /* context of the handlers; opaque to the server */

/**
 * Write the answer. Err: http_config.no_route writes `err` as the answer, unless the response has a status >= 400: then the
 * handler has written the refusal.
 */
typedef int http_handler_fn(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err);

struct http_response {
	int status;       /* 200 unless the handler sets another */
	const char *type; /* Content-Type, a constant */
	struct buf body;  /* what is sent; for a stream, its beginning */
	/** With quotes; "" none: then JSON, CSV, Markdown and SVG get a weak one. A matching If-None-Match is answered with 304. */
	char etag[80];
	size_t spared;       /* size of a body that was not written because http_knows is true (304); 0: `body` is written */
	const char *cache;   /* Cache-Control; NULL: no-cache */
	char location[2048]; /* "" none */
	char allow[64];      /* with 405 */
	char file[640];      /* a file to send instead of body; "" none */
	int64_t file_at, file_bytes; /* byte range of it; 0 bytes: to its end */
	char link[512];              /* Link header, "" none */
	char cookie[384];            /* Set-Cookie, "" none */
	bool logged_in;              /* set by the guard: pages have a log-out button */
	int open_alerts;             /* set for pages: shown in the navigation */
	bool is_private;             /* set by the guard: the answer depends on the user; shared caches must not store it */
	bool is_picture;             /* for embedding in pages of other sites */
	/** Set for an event stream: append the events after *cursor and advance *cursor. Called again after every http_notify. */
	void (*stream)(struct site *site, int64_t *cursor, struct buf *out);
	int64_t cursor;
	/**
	 * Set for a deferred answer: the connection is suspended, and this is called like a handler after every http_notify until
	 * it leaves `later` unset. Called a last time with `response` NULL when the request has ended, answered or not.
	 */
	http_handler_fn *later;
};

/** Permission that a request needs; each includes those before it. */
enum http_scope { HTTP_OPEN, HTTP_READ, HTTP_TRIGGER, HTTP_ADMIN };

/** `path` may contain up to ROUTE_SEGMENTS_MAX "{name}" segments; the handler gets them by http_segment. */
struct http_route {
	const char *method; /* "GET" (includes HEAD) or "POST" */
	const char *path;
	http_handler_fn *handler;
	enum http_scope scope;
	const char *query; /* accepted arguments, separated by spaces; others are refused (400). NULL: others are ignored */
	const struct api_operation *operation; /* description for the API document; the server does not read it. NULL: none */
};

/**
 * Bodies: 1 MiB, or HTTP_UPLOAD_MAX on an address for uploads, of which HTTP_UPLOADS_MAX are read at the same time; another is
 * refused (503), and so is a second one of a token. One of which no byte arrives for HTTP_UPLOAD_IDLE_S is ended. An upload that
 * is too large is read without being stored up to HTTP_UPLOAD_READ_MAX, so that a browser shows the refusal (413).
 */
enum { HTTP_UPLOAD_FILE_MAX = 16 << 20, HTTP_UPLOAD_MAX = 2 * HTTP_UPLOAD_FILE_MAX + (64 << 10) };
enum { HTTP_UPLOADS_MAX = 2, HTTP_UPLOAD_IDLE_S = 20, HTTP_UPLOAD_READ_MAX = 256 << 20 };

/** The files of HTTPS. */
struct http_tls {
	const char *certificate; /* in PEM: that of the server, then its issuers */
	const char *key_file;    /* its private key, in PEM; only its owner may read it */
	int64_t hsts_s;          /* browsers then use only HTTPS with this host for so long; 0: this ends */
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

/** Bind and listen. Err: ERR_BUSY the port is in use; ERR_IO the certificate cannot be used; a renewal may not
 * have written both files yet. */
int http_start(const struct http_config *config, struct http **out, struct fw_err *err);
/** Close all connections; calls `later` of deferred answers a last time. Accepts NULL. */
void http_stop(struct http *h);
int http_port(const struct http *h);
/** Descriptor to watch for EPOLLIN. */
int http_fd(const struct http *h);
/** Serve all ready sockets. Returns ms until it must be called again, -1: only when the descriptor is ready. */
int64_t http_run(struct http *h);
/** Call after a change: wakes streams and deferred answers. */
void http_notify(struct http *h);

/** Check the files as http_start does, without a server. *expires_at: ms UTC, perhaps past. Err: ERR_INVALID with the file. */
int http_check_tls(const struct http_tls *tls, int64_t *expires_at, struct fw_err *err);
/**
 * Use these files for further connections of a server that has TLS; open connections continue. Err: -1, and only hsts_s changes,
 * if the files are invalid, or if the new certificate is not valid now and the present one is.
 */
int http_renew_tls(struct http *h, const struct http_tls *tls, struct fw_err *err);
/** End of the certificate's period. Units: ms UTC; 0: no TLS. */
int64_t http_tls_expires_at(const struct http *h);

/* For handlers. All strings are valid until the handler returns. */
const char *http_path(const struct http_request *r);
/** Value of the i-th "{...}" of the route. */
const char *http_segment(const struct http_request *r, int i);
/** Decoded query argument, NULL if absent. */
const char *http_query(const struct http_request *r, const char *name);
/** The `n`-th value, from 0, of an argument that is given several times; NULL if there are fewer. */
const char *http_query_at(const struct http_request *r, const char *name, int n);
/** The first query argument that the route does not accept, NULL if there is none; *known lists the accepted ones. */
const char *http_unknown(const struct http_request *r, const char **known);
/** Append the path, and the name and value of every argument, each with its final NUL: equal only for equal requests. */
void http_identify(const struct http_request *r, struct buf *out);
const char *http_header(const struct http_request *r, const char *name);
/** The table of routes from http_start. Shape: *n rows. */
const struct http_route *http_routes(const struct http_request *r, int *n);
/** Whether the client has the version `etag` (with quotes): the answer is 304, without a body. */
bool http_knows(const struct http_request *r, const char *etag);
const char *http_cookie(const struct http_request *r, const char *name);
/** User of the request, set by the guard; "local" without one. */
const char *http_who(const struct http_request *r);
/** Set the user, whose requests then count together. */
void http_set_who(struct http_request *r, const char *who);
/** Count a read that needs no token, because it costs work. False: the client has sent too many; answer 429. */
bool http_count(struct http_request *r);
/**
 * The same for a step of a log-in, of which an address may request HTTP_LOG_INS_PER_MINUTE, whatever requests_per_minute is. `client`
 * gets what identifies the address; "" a program that connects through loopback, which has no limit.
 */
bool http_count_log_in(struct http_request *r, char client[HTTP_CLIENT_MAX]);
/** End the request's event stream at this time, when its token expires. Units: ms UTC; 0: never. */
void http_set_expiry(struct http_request *r, int64_t expires_at);
/** End all streams, because a token was revoked: clients with a valid token reconnect and continue. */
void http_end_streams(const struct http_request *r);
/** The same, outside of a request. */
void http_end_all_streams(struct http *h);
typedef void http_count_fn(void *arg, const char *method, const char *route, int status, uint64_t n);
/** Count of answered requests by route ("" none) and status. */
void http_each_count(const struct http_request *r, http_count_fn *each, void *arg);
/** Body of a POST, NUL-terminated. */
const char *http_body(const struct http_request *r, size_t *len);
/** Value of a field of an application/x-www-form-urlencoded body, NULL if absent. Own: `r`, until the handler returns. */
const char *http_form(struct http_request *r, const char *name);
/** The i-th field of the body: 1; 0 there are no more; -1 the body is not a valid form. Own: as http_form. */
int http_form_field(struct http_request *r, int i, const char **name, const char **value);

/* ---- listen: The listening socket. ---- */

/**
 * Listen on an address, IPv4 or IPv6; `port` 0: any free one. Sets *bound to the port. Own: the caller closes the descriptor.
 * Err: ERR_INVALID not an address, ERR_BUSY the port is in use. -1.
 */
int http_listen(const char *host, int port, int *bound, struct fw_err *err);

/* ---- media: Content negotiation by the Accept header. Pure. ---- */

/**
 * Quality (weight) of `type` in `accept` (the header's value, NULL: absent): 0 not acceptable .. 1. The most specific range
 * decides, as in RFC 9110; parameters of `type` after ';' and malformed ranges are ignored.
 */
double media_quality(const char *accept, const char *type);
/** Whether the header Accept-Encoding (NULL: absent) accepts gzip. Without the header no answer is compressed. */
bool media_accepts_gzip(const char *accept);

/*
 * ---- multipart ----
 * The parts of a body of type multipart/form-data (RFC 7578), as browsers and curl write it: fields of a form with files. Pure.
 */

struct multipart_part {
	char name[64];    /* of the field */
	char file[256];   /* name of the file, as the client wrote it; "" none */
	const char *data; /* Own: points into the body */
	size_t len;
};

/** Whether a Content-Type (NULL: absent) is multipart/form-data. */
bool multipart_is(const char *type);
/**
 * Read the part at offset *at, 0 for the first one, and move *at behind it. `type`: the Content-Type, which has the boundary.
 * Returns 1; 0 after the last part; -1 the body or its type is malformed, or a name is too long. Shape: body[len].
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
 * Whether `path` has only letters, digits and "./_-~", no "..", no "//", and is shorter than ROUTE_PATH_MAX. All paths of the
 * server are plain; a proxy may interpret others differently.
 */
bool route_is_plain(const char *path);

/**
 * Whether a plain `path` matches `pattern`, whose "{name}" matches one segment and may have a suffix ("{id}.csv").
 * Own: out->part points into out->text.
 */
bool route_match(const char *pattern, const char *path, struct route_parts *out);

#endif
