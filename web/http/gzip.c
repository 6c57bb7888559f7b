/*
 * gzip.c - compression of answers. A body is compressed piece by piece while its client reads it, so a large answer delays other
 * clients by the time of one piece only.
 *
 * Compression shows by the length of an encrypted answer whether a text of the requester repeats a secret of the same answer
 * (BREACH). So answers that set a cookie, have `no-store`, or follow a POST (a new token) are never compressed. Pages and lists
 * contain no secret: forms need no token, since the browser's headers and the SameSite session identify their origin.
 */
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

#include "web/http/internal.h"

enum { PACKED_MIN = 1024 /* a smaller answer fits into a packet */, PACKERS_MAX = 64 /* of 268 KB each */, PIECE = 16 << 10 };
enum { LEVEL = 1 /* on JSON and HTML a third of the time of level 6, and a size 1.2 times as large */, GZIP_BITS = 15 + 16 };

struct packer {
	struct http *http;
	z_stream z;
	struct buf body;
};

static bool is_text(const char *type)
{
	return strncmp(type, "text/", 5) == 0 || strstr(type, "json") || strstr(type, "xml") || strstr(type, "javascript") ||
	       strncmp(type, "application/openmetrics-text", 28) == 0;
}

bool gzip_is_wanted(const struct http_request *r, const struct http_response *response)
{
	size_t len = response->spared ? response->spared : response->body.len;
	bool is_secret = response->cookie[0] || (response->cache && strstr(response->cache, "no-store"));
	return len >= PACKED_MIN && !response->stream && !response->file[0] && !is_secret && request_is_read(r) &&
	       is_text(response->type) && media_accepts_gzip(http_header(r, "Accept-Encoding"));
}

/* Give libmicrohttpd the next compressed bytes, at most `max`. */
static ssize_t read_packed(void *arg, uint64_t at, char *to, size_t max)
{
	(void)at;
	struct packer *p = arg;
	p->z.next_out = (Bytef *)to;
	p->z.avail_out = (uInt)(max < PIECE ? max : PIECE);
	const uInt unused = p->z.avail_out;
	int status = deflate(&p->z, Z_FINISH);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (p->z.avail_out < unused)
		return (ssize_t)(unused - p->z.avail_out);
	return status == Z_STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void packer_free(void *arg)
{
	struct packer *p = arg;
	deflateEnd(&p->z);
	buf_fini(&p->body);
	p->http->n_packers--;
	free(p);
}

struct MHD_Response *gzip_response(struct http_request *r, struct http_response *response)
{
	if (r->http->n_packers == PACKERS_MAX)
		return NULL;
	struct packer *p = mem_alloc_zero(1, sizeof *p);
	if (deflateInit2(&p->z, LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return NULL;
	}
	struct MHD_Response *m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_packed, p, packer_free);
	p->http = r->http;
	p->http->n_packers++;
	if (!m) {
		packer_free(p);
		return NULL;
	}
	p->body = response->body;
	memset(&response->body, 0, sizeof response->body);
	p->z.next_in = (Bytef *)p->body.data;
	p->z.avail_in = (uInt)p->body.len;
	r->answered = p->body.len;
	r->http->answers += r->answered;
	return m;
}
