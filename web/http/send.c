/* send.c - the answer: its body and headers. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "web/http/internal.h"

enum {
	ANSWERS_MAX = 256 << 20, /* of all answers that clients have not read yet */
	SMALL_MAX = 64 << 10,
	TAGGED_MAX = 1 << 20 /* a tag hashes the answer, a fourth of the time that a large one takes */
};

static void add(struct MHD_Response *m, const char *name, const char *value)
{
	if (MHD_add_response_header(m, name, value) != MHD_YES)
		log_warning("http.header", "name=%s err=refused", name);
}

static struct MHD_Response *file_response(const struct http_response *response)
{
	struct stat info;
	int64_t at = response->file_at, bytes = response->file_bytes;
	int fd = open(response->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &info) != 0 || info.st_size < at + bytes) {
		close(fd);
		return NULL;
	}
	return MHD_create_response_from_fd_at_offset64((uint64_t)(bytes ? bytes : info.st_size - at), fd, (uint64_t)at);
}

/* Formats that clients store, and whose content changes rarely. */
static bool is_tagged(const char *type)
{
	static const char *const types[] = { "application/json", "text/csv", "text/markdown", "image/svg+xml" };
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strncmp(type, types[i], strlen(types[i])) == 0)
			return true;
	return false;
}

/* Tag an answer by its bytes, so that a client that polls a list transfers it only when it changed. */
static void tag_answer(const struct http_request *r, struct http_response *response)
{
	char hex[HASH_HEX];
	if (response->etag[0] || response->status != 200 || !request_is_read(r) || !is_tagged(response->type) ||
		response->stream || response->file[0] || response->spared || response->body.len > TAGGED_MAX ||
		(response->cache && strstr(response->cache, "no-store")))
		return;
	hash_hex(response->body.data, response->body.len, hex);
	snprintf(response->etag, sizeof response->etag, "W/\"%.32s\"", hex);
}

static bool is_not_modified(const struct http_request *r, const struct http_response *response)
{
	return response->status == 200 && http_knows(r, response->etag);
}

void http_refuse(struct http_request *r, struct http_response *response, int status)
{
	response->status = status;
	response->stream = NULL;
	response->spared = 0;
	response->etag[0] = response->link[0] = response->file[0] = '\0';
	buf_clear(&response->body);
	r->http->config.no_route(r->http->config.site, r, response, &(struct fw_err){ 0 });
}

/* Unread answers stay in memory until their deadline: large ones share a limit, as bodies do. Small ones are always sent. */
static bool has_space(const struct http_request *r, const struct http_response *response)
{
	return response->body.len <= SMALL_MAX || r->http->answers + response->body.len <= ANSWERS_MAX;
}

static void begin_phase(struct http_request *r, const struct http_response *response)
{
	struct connection *c = connection_of(r->connection);
	if (!c)
		return;
	c->phase = response->stream ? PHASE_STREAM : response->file[0] ? PHASE_FILE : PHASE_ANSWER;
	c->since_ns = http_clock_ns(r->http);
}

/* Never called: an answer to HEAD and a 304 have no body. */
static ssize_t read_nothing(void *arg, uint64_t at, char *to, size_t max)
{
	(void)arg, (void)at, (void)to, (void)max;
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

/*
 * Create an answer whose headers are those of a body of `size` bytes (MHD_SIZE_UNKNOWN: not known), which is not sent. After one
 * of unknown size libmicrohttpd 0.9.75 sends the end of a chunked body, which the client takes for its next answer, unless the
 * connection ends as in HTTP/1.0.
 */
static struct MHD_Response *make_bodiless(uint64_t size)
{
	struct MHD_Response *m = MHD_create_response_from_callback(size, 1024, read_nothing, NULL, NULL);
	if (m && size == MHD_SIZE_UNKNOWN)
		MHD_set_response_options(m, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	return m;
}

/* Own: takes the response's body. */
static struct MHD_Response *make_plain(struct http_request *r, struct http_response *response)
{
	bool is_owned = response->body.cap > 0; /* an empty buf points to static memory */
	size_t len = response->body.len;
	struct MHD_Response *m = MHD_create_response_from_buffer(
		len, response->body.data, is_owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (m) {
		memset(&response->body, 0, sizeof response->body);
		r->answered = len;
		r->http->answers += len;
	}
	return m;
}

/* *is_packed: whether to compress it; then whether it is. Own: takes the response's body. NULL: no memory, file or stream. */
static struct MHD_Response *make(struct http_request *r, struct http_response *response, bool *is_packed)
{
	struct MHD_Response *m = NULL;
	bool is_head = strcmp(r->method, "HEAD") == 0, is_bodiless = is_head || is_not_modified(r, response);
	if (response->stream)
		m = is_head ? make_bodiless(MHD_SIZE_UNKNOWN) : stream_response(r, response);
	else if (response->file[0])
		m = file_response(response);
	else if (*is_packed && is_bodiless)
		m = make_bodiless(MHD_SIZE_UNKNOWN);
	else if (*is_packed && (m = gzip_response(r, response)))
		return m;
	else if (response->spared) /* Content-Length of a 304 is that of the omitted body */
		m = make_bodiless(response->spared);
	else
		m = make_plain(r, response);
	*is_packed = *is_packed && is_bodiless;
	buf_fini(&response->body);
	return m;
}

/* Add the remaining requests per minute of the client. */
static void add_rate(const struct http_request *r, int status, struct MHD_Response *m)
{
	const struct {
		const char *name;
		int value;
	} rows[] = { { "RateLimit-Limit", r->rate.limit }, { "RateLimit-Remaining", r->rate.remaining },
		{ "RateLimit-Reset", r->rate.reset_s }, { "Retry-After", r->rate.reset_s } };
	for (size_t i = 0; r->rate.limit && i < sizeof rows / sizeof rows[0] - (status != 429); i++) {
		char text[16];
		snprintf(text, sizeof text, "%d", rows[i].value);
		add(m, rows[i].name, text);
	}
}

static void add_headers(
	struct http_request *r, const struct http_response *response, int status, bool is_packed, struct MHD_Response *m)
{
	add(m, "Content-Type", response->type);
	add(m, "Vary", response->is_private ? "Accept, Accept-Encoding, Authorization, Cookie" : "Accept, Accept-Encoding");
	if (is_packed)
		add(m, "Content-Encoding", "gzip");
	add_rate(r, status, m);
	add(m, "Cache-Control", response->cache ? response->cache : response->is_private ? "private, no-cache" : "no-cache");
	if (r->http->certificate) { /* 0 ends what browsers stored earlier */
		char period[48];
		snprintf(period, sizeof period, "max-age=%lld", (long long)r->http->hsts_s);
		add(m, "Strict-Transport-Security", period);
	}
	add(m, "X-Content-Type-Options", "nosniff");
	add(m, "Referrer-Policy", "same-origin"); /* with "no-referrer" browsers send "Origin: null" for forms of our pages */
	add(m, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri "
		"'none'; "
		"frame-ancestors 'none'; form-action 'self'");
	add(m, "Cross-Origin-Opener-Policy", "same-origin");
	add(m, "Cross-Origin-Resource-Policy", response->is_picture ? "cross-origin" : "same-origin");
	if (status == 206) {
		char range[80];
		long long end = response->file_at + response->file_bytes;
		snprintf(range, sizeof range, "bytes %lld-%lld/%lld", (long long)response->file_at, end - 1, end);
		add(m, "Content-Range", range);
	}
	if (response->etag[0] && is_packed && response->etag[0] != 'W') { /* other bytes of the same content */
		char weak[sizeof response->etag + 2];
		snprintf(weak, sizeof weak, "W/%s", response->etag);
		add(m, "ETag", weak);
	} else if (response->etag[0]) {
		add(m, "ETag", response->etag);
	}
	if (response->location[0])
		add(m, "Location", response->location);
	if (response->allow[0])
		add(m, "Allow", response->allow);
	if (response->link[0])
		add(m, "Link", response->link);
	if (response->cookie[0])
		add(m, "Set-Cookie", response->cookie);
	if (status == 401)
		add(m, "WWW-Authenticate", "Bearer realm=\"flopwatch\"");
	if (status == 503)
		add(m, "Retry-After", "5");
	if (response->stream)
		add(m, "X-Accel-Buffering", "no");
	if (r->refused)
		add(m, "Connection", "close");
}

enum MHD_Result http_send(struct http_request *r, struct http_response *response)
{
	if (response->body.failed)
		http_refuse(r, response, 500);
	if (response->spared && !is_not_modified(r, response))
		http_refuse(r, response, 500); /* the body was not written, so only a 304 is possible */
	if (!has_space(r, response))
		http_refuse(r, response, 503);
	tag_answer(r, response);
	begin_phase(r, response);
	bool is_packed = gzip_is_wanted(r, response);
	struct MHD_Response *m = make(r, response, &is_packed);
	if (!m)
		return MHD_NO;
	int status = is_not_modified(r, response) ? 304 : response->status;
	request_counter_add(r->http->request_counter, r->route, status);
	add_headers(r, response, status, is_packed, m);
	enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)status, m);
	MHD_destroy_response(m);
	return result;
}
