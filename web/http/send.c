/* send.c - the answer: its body and headers. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "web/http/internal.h"

enum { ANSWERS_MAX = 256 << 20 /* of all answers that clients have not read yet */, SMALL_MAX = 64 << 10 };

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
static bool has_room(const struct http_request *r, const struct http_response *response)
{
	return response->body.len <= SMALL_MAX || r->http->answers + response->body.len <= ANSWERS_MAX;
}

static void begin_phase(struct http_request *r, const struct http_response *response)
{
	struct connection *c = connection_of(r->connection);
	if (!c)
		return;
	c->phase = response->stream ? PHASE_STREAM : response->file[0] ? PHASE_FILE : PHASE_ANSWER;
	c->since_ns = clock_mono_ns();
}

/* Never called: a 304 has no body. */
static ssize_t read_nothing(void *arg, uint64_t at, char *to, size_t max)
{
	(void)arg, (void)at, (void)to, (void)max;
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Own: takes the response's body. NULL: out of memory, no such file, or no stream. */
static struct MHD_Response *make(struct http_request *r, struct http_response *response)
{
	struct MHD_Response *m;
	if (response->stream) {
		m = stream_response(r, response);
	} else if (response->file[0]) {
		m = file_response(response);
	} else if (response->spared) { /* Content-Length of a 304 is that of the omitted body */
		m = MHD_create_response_from_callback(response->spared, 1024, read_nothing, NULL, NULL);
	} else {
		bool is_owned = response->body.cap > 0; /* an empty buf points to static memory */
		size_t len = response->body.len;
		m = MHD_create_response_from_buffer(
			len, response->body.data, is_owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
		if (m) {
			memset(&response->body, 0, sizeof response->body);
			r->answered = len;
			r->http->answers += len;
		}
	}
	buf_fini(&response->body);
	return m;
}

static void add_headers(struct http_request *r, const struct http_response *response, int status, struct MHD_Response *m)
{
	add(m, "Content-Type", response->type);
	add(m, "Vary", response->is_private ? "Accept, Authorization, Cookie" : "Accept");
	add(m, "Cache-Control", response->cache ? response->cache : response->is_private ? "private, no-cache" : "no-cache");
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
	if (response->etag[0])
		add(m, "ETag", response->etag);
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
	if (!has_room(r, response))
		http_refuse(r, response, 503);
	begin_phase(r, response);
	struct MHD_Response *m = make(r, response);
	if (!m)
		return MHD_NO;
	int status = is_not_modified(r, response) ? 304 : response->status;
	request_counter_add(r->http->request_counter, r->route, status);
	add_headers(r, response, status, m);
	enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)status, m);
	MHD_destroy_response(m);
	return result;
}
