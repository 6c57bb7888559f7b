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
 * The daemon's loop watches http_fd and calls http_run; handlers run inside that call and must not block. What this file
 * decides before any handler sees a request: methods, exact Host, framing that leaves no doubt, escapes in the path, size
 * of the body, cross-origin writes, absolute deadlines for slow clients, and how many streams may stay open.
 */

struct http;
struct http_request;
struct http_response;
struct site; /* what handlers know; the server does not look inside */

/**
 * Write the answer. Err: `err` becomes the answer, by http_config.no_route, unless the response has a status from 400 on: then the
 * handler has refused by itself.
 */
typedef int http_handler_fn(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err);

struct http_response {
	int status;                  /* 200 unless the handler sets another */
	const char *type;            /* Content-Type, a constant */
	struct buf body;             /* what is sent; of a stream, what it begins with */
	char etag[80];               /* with quotes; "" none. A matching If-None-Match becomes 304 by itself */
	size_t spared;               /* bytes of a body that http_knows spares, and that was not written; 0: it was */
	const char *cache;           /* Cache-Control; NULL: no-cache */
	char location[256];          /* "" none */
	char allow[64];              /* with 405 */
	char file[640];              /* a file to send instead of body; "" none */
	int64_t file_at, file_bytes; /* a part of it; 0 bytes: to its end */
	char link[512];              /* Link header, "" none */
	char cookie[256];            /* Set-Cookie, "" none */
	bool logged_in;              /* set by the guard: a page offers to log out */
	bool is_private;             /* set by the guard: the answer depends on who asks, and no cache may give it to another */
	bool is_picture;             /* made to be shown in pages of other sites */
	/** Set for an event stream: append what comes after *cursor, move *cursor. Called again after every http_notify. */
	void (*stream)(struct site *site, int64_t *cursor, struct buf *out);
	int64_t cursor;
	/**
	 * Set where the answer comes later: the connection rests, and this is called like a handler after every http_notify until it
	 * leaves `later` unset. A last time with `response` NULL: the request is over, answered or not.
	 */
	http_handler_fn *later;
};

/** What a request needs to be allowed; each includes those before it. */
enum http_scope { HTTP_OPEN, HTTP_READ, HTTP_TRIGGER, HTTP_ADMIN };

/** `path` may hold one or two "{name}" segments, given to the handler by http_segment. */
struct http_route {
	const char *method; /* "GET" (HEAD comes with it) or "POST" */
	const char *path;
	http_handler_fn *handler;
	enum http_scope scope;
	const char *
		query; /* arguments it takes, separated by spaces; another is refused (400). NULL: whatever is not known is passed over */
	const struct api_operation *operation; /* description for the API document; the server does not read it. NULL: none */
};

struct http_config {
	const char *host; /* address to listen on, in numbers */
	int port;         /* 0: any free one */
	const struct http_route *route;
	int n_route;
	struct site *site; /* given to every handler */
	http_handler_fn *
		no_route; /* writes what a handler failed with; without an error 404s and all refusals made here: response->status is set */
	const char *const *names; /* further values of Host that are ours, NULL-ended; NULL: none */
	/** Asked before every handler: whether the request may have `scope`. False: the refusal is written. NULL: everybody may. */
	bool (*guard)(struct site *site, struct http_request *request, struct http_response *response, enum http_scope scope);
};

/** Bind and listen. Err: ERR_BUSY the port is in use. */
int http_start(const struct http_config *config, struct http **out, struct fw_err *err);
/** Close everything; answers that rest are asked for a last time. Accepts NULL. */
void http_stop(struct http *h);
int http_port(const struct http *h);
/** Descriptor to watch for EPOLLIN. */
int http_fd(const struct http *h);
/** Serve what is ready. Returns ms until it wants to be called again, -1: only when the descriptor is ready. */
int64_t http_run(struct http *h);
/** Something is new: wake the streams, and the answers that come later. */
void http_notify(struct http *h);

/* What a handler may ask. All strings live until it returns. */
const char *http_path(const struct http_request *r);
/** i-th "{...}" of the route. */
const char *http_segment(const struct http_request *r, int i);
/** Decoded query argument, NULL if absent. */
const char *http_query(const struct http_request *r, const char *name);
/** Of an argument that is given several times the one at place `n`, from 0; NULL where there are not so many. */
const char *http_query_at(const struct http_request *r, const char *name, int n);
/** The first query argument that the route does not take, NULL if there is none; *known is what it takes. */
const char *http_unknown(const struct http_request *r, const char **known);
const char *http_header(const struct http_request *r, const char *name);
/** The table of routes from http_start. Shape: *n rows. */
const struct http_route *http_routes(const struct http_request *r, int *n);
/** Whether the client has what `etag` names, quotes included: the answer is 304, and its body is not sent. */
bool http_knows(const struct http_request *r, const char *etag);
const char *http_cookie(const struct http_request *r, const char *name);
/** Who asks, as the guard found out; "local" without one. */
const char *http_who(const struct http_request *r);
void http_set_who(struct http_request *r, const char *who);
/** End all streams, because a token was revoked: clients that may still read reconnect and continue. */
void http_end_streams(const struct http_request *r);
typedef void http_count_fn(void *arg, const char *method, const char *route, int status, uint64_t n);
/** Requests answered so far by route ("" none) and status. */
void http_each_count(const struct http_request *r, http_count_fn *each, void *arg);
/** Body of a POST, NUL-ended. */
const char *http_body(const struct http_request *r, size_t *len);
/** Value of a form field of an application/x-www-form-urlencoded body, NULL if absent. Own: `r`'s until the handler returns. */
const char *http_form(struct http_request *r, const char *name);
/** Its i-th field: 1; 0 there are no more; -1 the body cannot be read as a form. Own: as http_form. */
int http_form_field(struct http_request *r, int i, const char **name, const char **value);

/* ---- listen: The socket that a server waits on. ---- */

/**
 * Listen on an address, IPv4 or IPv6; `port` 0: any that is free. Sets *bound to the port. Own: the descriptor is the caller's.
 * Err: ERR_INVALID no address, ERR_BUSY another program has the port. -1.
 */
int http_listen(const char *host, int port, int *bound, struct fw_err *err);

/* ---- media: What the Accept header of a request says about a media type. Pure. ---- */

/**
 * How much `accept` (the header's value, NULL: absent) wants `type`: 0 not at all .. 1. The most exact range decides, as RFC 9110
 * has it; parameters of `type` after ';' are not looked at. A range that is malformed is passed over.
 */
double media_quality(const char *accept, const char *type);

/* ---- route: Paths of requests: which are plain enough to look at, and which pattern of the table they fit. ---- */

enum { ROUTE_PATH_MAX = 512, ROUTE_SEGMENTS_MAX = 4 };

/** The "{...}" parts of a path that fitted. */
struct route_parts {
	int n;
	char *part[ROUTE_SEGMENTS_MAX];
	char text[ROUTE_PATH_MAX];
};

/**
 * Letters, digits and "./_-~" only, no "..", no "//", shorter than ROUTE_PATH_MAX: every path of ours is such, and one that is
 * not means something else to a program on its way.
 */
bool route_is_plain(const char *path);

/**
 * Whether a plain `path` fits `pattern`, whose "{name}" stands for one segment and may have a suffix ("{id}.csv").
 * Own: out->part points into out->text.
 */
bool route_match(const char *pattern, const char *path, struct route_parts *out);

#endif
