/* buf.c - memory that grows to a known maximum, so that no peer and no build decides how much is allocated. */
#include "lib/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Contents of an empty buf; never written, because cap is 0. */
static char nothing[1];

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .data = nothing, .max = max };
}

void buf_fini(struct buf *b)
{
	if (b->cap)
		free(b->data);
	*b = (struct buf){ .data = nothing };
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = b->is_out_of_memory = false;
	if (b->cap)
		b->data[0] = '\0';
}

const char *buf_why(const struct buf *b, const char *too_large)
{
	return b->is_out_of_memory ? "out of memory" : too_large;
}

/* Out of line, so that callers that reserve space stay short. */
__attribute__((noinline)) static int grow(struct buf *b, size_t more)
{
	size_t want, cap;
	char *data;

	if (b->failed || more > b->max || b->len > b->max - more) {
		b->failed = true;
		return -1;
	}
	want = b->len + more + 1;
	cap = b->cap > SIZE_MAX / 2 ? want : b->cap * 2;
	if (cap < want)
		cap = want;
	if (cap < 64)
		cap = 64;
	if (cap - 1 > b->max)
		cap = b->max + 1;
	data = realloc(b->cap ? b->data : NULL, cap);
	if (!data) {
		if (!b->is_optional)
			mem_end_if_asked(cap);
		b->failed = b->is_out_of_memory = true;
		return -1;
	}
	b->data = data;
	b->data[b->len] = '\0';
	b->cap = cap;
	return 0;
}

/* Reserve space for `more` bytes and the NUL after them. The allocation never exceeds max, so one check is enough. */
static int reserve(struct buf *b, size_t more)
{
	return more < b->cap - b->len && !b->failed ? 0 : grow(b, more);
}

void buf_append_grow(struct buf *b, const void *data, size_t len)
{
	if (reserve(b, len) == 0)
		buf_append(b, data, len);
}

char *buf_reserve_grow(struct buf *b, size_t len)
{
	return reserve(b, len) != 0 ? NULL : b->data + b->len;
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
	size_t left = b->failed || b->cap == 0 ? 0 : b->cap - b->len;
	va_list again;
	int len;

	/* usually there is space, and the text is written directly */
	va_copy(again, args);
	len = vsnprintf(left ? b->data + b->len : NULL, left, format, again);
	va_end(again);
	if (len < 0 || reserve(b, (size_t)len) != 0) {
		b->failed = true;
		if (left)
			b->data[b->len] = '\0';
		return;
	}
	if ((size_t)len >= left)
		vsnprintf(b->data + b->len, (size_t)len + 1, format, args);
	b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(b, format, args);
	va_end(args);
}

void buf_consume(struct buf *b, size_t n)
{
	if (n > b->len)
		n = b->len;
	if (!n)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len + 1);
}

int buf_read_fd(struct buf *b, int fd)
{
	char chunk[16384];

	for (;;) {
		size_t left = b->max - b->len;
		ssize_t got = read(fd, chunk, sizeof chunk);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -1 : 0;
		buf_append(b, chunk, (size_t)got < left ? (size_t)got : left);
		b->failed = b->failed || (size_t)got > left;
		if (b->failed)
			return 0;
	}
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buf_base64(struct buf *b, const void *data, size_t len)
{
	const unsigned char *in = data;
	size_t i;

	if (len > SIZE_MAX / 2 || reserve(b, (len + 2) / 3 * 4) != 0) {
		b->failed = true;
		return;
	}
	for (i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		unsigned v = (unsigned)in[i] << 16 | (have > 1 ? (unsigned)in[i + 1] << 8 : 0) | (have > 2 ? in[i + 2] : 0);
		char out[4] = { digits[v >> 18], digits[v >> 12 & 63], have > 1 ? digits[v >> 6 & 63] : '=',
			have > 2 ? digits[v & 63] : '=' };

		buf_append(b, out, sizeof out);
	}
}

static int digit_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int buf_unbase64(struct buf *b, const char *text, size_t len)
{
	size_t i;

	if (len % 4)
		return -1;
	for (i = 0; i < len; i += 4) {
		bool last = i + 4 == len;
		int pad = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
		unsigned v = 0;
		char out[3];
		int k;

		for (k = 0; k < 4; k++) {
			int d = k >= 4 - pad ? 0 : digit_value(text[i + (size_t)k]);

			if (d < 0)
				return -1;
			v = v << 6 | (unsigned)d;
		}
		out[0] = (char)(v >> 16);
		out[1] = (char)(v >> 8);
		out[2] = (char)v;
		buf_append(b, out, (size_t)(3 - pad));
	}
	return 0;
}
