/**
 * lines.h - cut a byte stream into LF-ended lines, with binary payloads between them.
 *
 * Feed what read() gave; take lines until there is none. After a line that announces N bytes, call lines_expect(N) and take
 * the payload in pieces with lines_payload.
 */
#ifndef LIB_LINES_H
#define LIB_LINES_H

#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"

struct lines {
	struct buf pending;
	size_t start;    /* first byte of pending not yet taken */
	size_t max_line; /* bytes */
	size_t payload;  /* bytes of payload still to come */
};

void lines_init(struct lines *l, size_t max_line);
void lines_fini(struct lines *l);
/** Err: ERR_PROTOCOL when a line is longer than max_line. */
int lines_feed(struct lines *l, const void *data, size_t len, struct fw_err *err);
/** 1 and the line without its LF (NUL-ended, valid until the next call on `l`), 0 when none is complete. */
int lines_next(struct lines *l, char **line, size_t *len);
/** The next `n` bytes are payload. */
void lines_expect(struct lines *l, size_t n);
/** The payload bytes at hand, at most what is expected; 0 when none. Valid until the next call on `l`. */
size_t lines_payload(struct lines *l, const char **data);

#endif
