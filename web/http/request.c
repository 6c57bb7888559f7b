/* request.c - a request before its handler is called (headers, body), and its accessors for handlers. */
#include "web/http/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- pairs ---- */

/* Decode in place; '+' is a space. */
static int decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from == '+' ? ' ' : *from;
			continue;
		}
		int byte = percent_byte(from);
		if (byte <= 0)
			return -1;
		*to++ = (char)byte;
		from += 2;
	}
	*to = '\0';
	return 0;
}

int pairs_split(struct pairs *p, char *text)
{
	p->n = 0;
	for (char *save = NULL, *part = strtok_r(text, "&", &save); part; part = strtok_r(NULL, "&", &save)) {
		if (p->n == PAIRS_MAX)
			return -1;
		char *value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		else
			value = part + strlen(part);
		if (decode(part) != 0 || decode(value) != 0)
			return -1;
		p->pair[p->n].name = part;
		p->pair[p->n++].value = value;
	}
	return 0;
}

/* The `n`-th value of a name, from 0; NULL if there are fewer. */
static const char *pairs_at(const struct pairs *p, const char *name, int n)
{
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->pair[i].name, name) == 0 && n-- == 0)
			return p->pair[i].value;
	return NULL;
}

const char *pairs_get(const struct pairs *p, const char *name)
{
	return pairs_at(p, name, 0);
}

static bool is_among(const char *name, const char *known)
{
	size_t len = strlen(name);
	for (; *known; known += strcspn(known, " "), known += *known == ' ')
		if (strcspn(known, " ") == len && memcmp(known, name, len) == 0)
			return true;
	return false;
}

const char *pairs_unknown(const struct pairs *p, const char *known)
{
	for (int i = 0; i < p->n; i++)
		if (!is_among(p->pair[i].name, known))
			return p->pair[i].name;
	return NULL;
}

/* ---- request ---- */

enum { BODY_MAX = 1 << 20, BODIES_MAX = 32 << 20 /* of all current requests */ };

void request_free(struct http_request *r)
{
	if (!r)
		return;
	if (r->is_upload)
		r->http->n_uploads--;
	else
		r->http->bodies -= r->body.len;
	r->http->answers -= r->answered;
	buf_fini(&r->body);
	free(r->uri);
	free(r->form_text);
	free(r);
}

void *request_new(void *arg, const char *uri, struct MHD_Connection *connection)
{
	struct connection *c = connection_of(connection);
	if (!c)
		return NULL;
	struct http_request *r = mem_alloc_zero(1, sizeof *r);
	r->http = arg;
	r->connection = connection;
	r->uri = mem_copy_text(uri ? uri : "");
	r->route = r->http->config.n_route;
	snprintf(r->who, sizeof r->who, "local");
	buf_init(&r->body, BODY_MAX);
	request_free(c->request);
	c->request = r;
	return r;
}

/* A body that exceeds the memory shared by all bodies is discarded; the request is refused after its last byte. */
void request_take_body(struct http_request *r, const char *data, size_t size)
{
	if (!r->is_upload && r->http->bodies + size > BODIES_MAX) {
		r->refused = 503;
		r->http->bodies -= r->body.len;
		buf_fini(&r->body);
		buf_init(&r->body, BODY_MAX);
	}
	if (r->refused)
		return;
	size_t before = r->body.len;
	r->received_ns = http_clock_ns(r->http);
	buf_append(&r->body, data, size);
	if (!r->is_upload)
		r->http->bodies += r->body.len - before;
}

struct header_count {
	int host, length, encoding;
	bool has_invalid_name;
};

/*
 * A proxy may accept `Content-Length : 5`, which libmicrohttpd passes as a header of an unknown name: then the two of them
 * disagree about the end of the request (RFC 9112, 5.1).
 */
static bool is_header_name(const char *name)
{
	static const char allowed[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	return name && *name && name[strspn(name, allowed)] == '\0';
}

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind, (void)value;
	struct header_count *c = arg;
	if (!is_header_name(name)) {
		c->has_invalid_name = true;
		return MHD_YES;
	}
	c->host += strcasecmp(name, "Host") == 0;
	c->length += strcasecmp(name, "Content-Length") == 0;
	c->encoding += strcasecmp(name, "Transfer-Encoding") == 0;
	return MHD_YES;
}

/*
 * libmicrohttpd before 1.0 ends a name or value at its first zero byte and passes no sizes, so that the bytes after it are not
 * checked (1.0 refuses such a request itself). It leaves each line where it was received, with zeros for CR and LF: any other
 * byte between the end of a value and the next line was after a zero byte. A continued line is copied elsewhere, and refused too,
 * as RFC 9112 requires.
 */
struct lines_seen {
	const char *end; /* of the last value */
	bool is_broken;
};

/* Whether there are `least` to `most` bytes between two positions of the request, all of them zero. */
static bool is_line_end(const char *from, const char *to, size_t least, size_t most)
{
	size_t len = (size_t)((uintptr_t)to - (uintptr_t)from); /* huge if `to` is before `from` */
	if (len < least || len > most)
		return false;
	for (size_t i = 0; i < len; i++)
		if (from[i])
			return false;
	return true;
}

static enum MHD_Result see_line(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	struct lines_seen *seen = arg;
	if (!name || !value || (seen->end && !is_line_end(seen->end, name, 1, 2)))
		seen->is_broken = true;
	seen->end = value ? value + strlen(value) : seen->end;
	return MHD_YES;
}

static bool hides_bytes(const struct http_request *r)
{
	struct lines_seen seen = { 0 };
	const union MHD_ConnectionInfo *head = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	if (MHD_get_version()[0] != '0')
		return false;
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, see_line, &seen);
	return seen.is_broken || !head || !seen.end || !is_line_end(seen.end, r->method + head->header_size, 2, 4);
}

/* Whether a page of another site made the browser send this write: browsers report that in these headers. */
static bool is_cross_origin(struct http_request *r)
{
	const char *site = http_header(r, "Sec-Fetch-Site");
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	const char *origin = http_header(r, "Origin");
	if (!origin)
		return false;
	const char *host = http_header(r, "Host");
	size_t scheme = strncmp(origin, "https://", 8) == 0                           ? 8 /* also of a proxy with TLS */
			: !r->http->certificate && strncmp(origin, "http://", 7) == 0 ? 7
										      : 0;
	return scheme == 0 || !host || strcmp(origin + scheme, host) != 0;
}

bool request_is_read(const struct http_request *r)
{
	return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
}

static bool is_upload_path(const struct http_request *r)
{
	const char *const *path = r->http->config.uploads;
	while (path && *path && strcmp(*path, r->uri) != 0)
		path++;
	return path && *path;
}

/* A token has one upload, so that other tokens can upload, too. */
static bool has_upload(const struct http_request *r)
{
	for (const struct connection *c = r->http->connections; c; c = c->next)
		if (c->request && c->request->is_upload && c->request->has_token && strcmp(c->request->who, r->who) == 0)
			return true;
	return false;
}

static unsigned long long body_length(const struct http_request *r)
{
	const char *length = http_header(r, "Content-Length");
	return length ? strtoull(length, NULL, 10) : 0;
}

int request_begin_upload(struct http_request *r)
{
	struct connection *c = connection_of(r->connection);
	unsigned long long length = body_length(r);
	if (length <= BODY_MAX && !(http_header(r, "Transfer-Encoding") && is_upload_path(r)))
		return 0;
	if (r->http->n_uploads == HTTP_UPLOADS_MAX || (r->has_token && has_upload(r)))
		return 503;
	r->http->n_uploads++;
	r->is_upload = true;
	r->received_ns = http_clock_ns(r->http);
	r->body.max = length <= HTTP_UPLOAD_MAX ? HTTP_UPLOAD_MAX : 0;
	if (c) {
		c->phase = PHASE_UPLOAD;
		c->since_ns = r->received_ns;
	}
	return 0;
}

int request_judge(struct http_request *r)
{
	struct header_count count = { 0 };
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &count);
	if (hides_bytes(r) || count.has_invalid_name || count.host != 1 || count.length > 1 || count.encoding > 1 ||
		(count.length && count.encoding))
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
	bool is_post = strcmp(r->method, "POST") == 0;
	if (body_length(r) > (is_post && is_upload_path(r) ? HTTP_UPLOAD_READ_MAX : BODY_MAX))
		return 413;
	if (request_is_read(r))
		return 0;
	if (!is_post)
		return 405;
	return is_cross_origin(r) ? 403 : 0;
}

/* ---- for handlers ------------------------------------------------------------------------------------------------ */

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

const char *http_query_at(const struct http_request *r, const char *name, int n)
{
	return pairs_at(&r->query, name, n);
}

void http_identify(const struct http_request *r, struct buf *out)
{
	buf_append(out, r->uri, strlen(r->uri) + 1);
	for (int i = 0; i < r->query.n; i++) {
		buf_append(out, r->query.pair[i].name, strlen(r->query.pair[i].name) + 1);
		buf_append(out, r->query.pair[i].value, strlen(r->query.pair[i].value) + 1);
	}
}

const char *http_unknown(const struct http_request *r, const char **known)
{
	*known = r->route < r->http->config.n_route ? r->http->route[r->route].query : NULL;
	return *known ? pairs_unknown(&r->query, *known) : NULL;
}

const char *http_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const struct http_route *http_routes(const struct http_request *r, int *n)
{
	*n = r->http->config.n_route;
	return r->http->route;
}

bool http_knows(const struct http_request *r, const char *etag)
{
	const char *known = http_header(r, "If-None-Match");
	etag += strncmp(etag, "W/", 2) == 0 ? 2 : 0; /* the weak comparison: W/"a" and "a" are equal */
	return known && *etag && (strcmp(known, "*") == 0 || strstr(known, etag));
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
	r->has_token = true;
}

void http_set_expiry(struct http_request *r, int64_t expires_at)
{
	r->expires_at = expires_at;
}

const char *http_body(const struct http_request *r, size_t *len)
{
	*len = r->body.len;
	return r->body.data;
}

/* An invalid form has n = -1. */
static void read_form(struct http_request *r)
{
	if (r->form_text)
		return;
	r->form_text = mem_copy_text(r->body.data ? r->body.data : "");
	if (strlen(r->form_text) != r->body.len || pairs_split(&r->form, r->form_text) != 0)
		r->form.n = -1;
}

const char *http_form(struct http_request *r, const char *name)
{
	read_form(r);
	return pairs_get(&r->form, name);
}

int http_form_field(struct http_request *r, int i, const char **name, const char **value)
{
	read_form(r);
	if (i >= r->form.n)
		return r->form.n < 0 ? -1 : 0;
	*name = r->form.pair[i].name;
	*value = r->form.pair[i].value;
	return 1;
}
