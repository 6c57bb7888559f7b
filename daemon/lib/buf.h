/**
 * buf.h - a growing byte buffer with a maximum at birth and a sticky failure.
 *
 * Writers append without looking; the owner checks `failed` once at the end. A NUL always follows the last byte, so data can
 * be read as a string when it holds no NUL itself.
 */
#ifndef LIB_BUF_H
#define LIB_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
	char *data; /* never NULL after buf_init */
	size_t len; /* bytes */
	size_t cap; /* bytes allocated */
	size_t max; /* bytes; an append beyond it sets failed and changes nothing */
	bool failed;
};

/** Start empty. Units: `max` in bytes. */
void buf_init(struct buf *b, size_t max);
/** Free the memory; a zeroed or finished buf is fine. */
void buf_fini(struct buf *b);
/** Forget contents and failure, keep memory. */
void buf_clear(struct buf *b);
/** Append where there is no room yet. */
void buf_append_grow(struct buf *b, const void *data, size_t len);
/** Here, so that a constant text is a few moves: a page is thousands of them. */
static inline void buf_append(struct buf *b, const void *data, size_t len)
{
	if (b->failed || len >= b->cap - b->len) {
		buf_append_grow(b, data, len);
		return;
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}
/** Room for `len` bytes behind the last one, to be written in place; NULL when they do not fit. Then say how many they became. */
char *buf_room_grow(struct buf *b, size_t len);
static inline char *buf_room(struct buf *b, size_t len)
{
	return b->failed || len >= b->cap - b->len ? buf_room_grow(b, len) : b->data + b->len;
}
/** The same where that much is allocated already, which it nearly always is; NULL: append as usual. */
static inline char *buf_spare(struct buf *b, size_t len)
{
	return b->failed || len >= b->cap - b->len ? NULL : b->data + b->len;
}
static inline void buf_grown(struct buf *b, size_t len)
{
	b->len += len;
	b->data[b->len] = '\0';
}
static inline void buf_puts(struct buf *b, const char *text)
{
	buf_append(b, text, strlen(text));
}
static inline void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/** Drop the first `n` bytes. */
void buf_consume(struct buf *b, size_t n);
/** Read from `fd` until end of file or `max`. Err: -1 with errno; beyond max sets failed. */
int buf_read_fd(struct buf *b, int fd);
/** Base64 of `len` bytes, and back. Err: buf_unbase64 returns -1 on a bad character. */
void buf_base64(struct buf *b, const void *data, size_t len);
int buf_unbase64(struct buf *b, const char *text, size_t len);

#endif
