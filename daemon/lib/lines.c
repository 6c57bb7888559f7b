/* lines.c - framing of all messages between flopwatch's programs; a peer decides neither length nor memory. */
#include "lib/lib.h"

void lines_init(struct lines *l, size_t max_line)
{
	*l = (struct lines){ .max_line = max_line };
	/* The caller bounds the pending data: it reads all lines between two feeds. */
	buf_init(&l->pending, SIZE_MAX / 4);
}

void lines_fini(struct lines *l)
{
	buf_fini(&l->pending);
}

static bool line_too_long(const struct lines *l, size_t at)
{
	size_t have = l->pending.len - at;

	return have > l->max_line && !memchr(l->pending.data + at, '\n', l->max_line + 1);
}

int lines_feed(struct lines *l, const void *data, size_t len, struct fw_err *err)
{
	size_t at;

	buf_consume(&l->pending, l->start);
	l->start = 0;
	buf_append(&l->pending, data, len);
	if (l->pending.failed)
		return err_set(err, ERR_FULL, "out of memory for %zu bytes of input", len);
	at = l->payload < l->pending.len ? l->payload : l->pending.len;
	if (line_too_long(l, at))
		return err_set(err, ERR_PROTOCOL, "a line is longer than %zu bytes", l->max_line);
	return 0;
}

int lines_next(struct lines *l, char **line, size_t *len)
{
	char *from = l->pending.data + l->start;
	char *end;

	/* A line that is too long after shorter ones: not returned, so that the next feed refuses it. */
	if (l->payload || l->start == l->pending.len || line_too_long(l, l->start))
		return 0;
	end = memchr(from, '\n', l->pending.len - l->start);
	if (!end)
		return 0;
	*end = '\0';
	*line = from;
	*len = (size_t)(end - from);
	l->start += *len + 1;
	return 1;
}

void lines_expect(struct lines *l, size_t n)
{
	l->payload = n;
}

size_t lines_payload(struct lines *l, const char **data)
{
	size_t have = l->pending.len - l->start;
	size_t n = have < l->payload ? have : l->payload;

	*data = l->pending.data + l->start;
	l->start += n;
	l->payload -= n;
	return n;
}
