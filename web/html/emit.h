/**
 * emit.h - HTML into a buf, escaping by function name: text, attribute, URL argument; raw output is rare and greppable.
 *
 * Bytes that are not UTF-8 come out as U+FFFD; control characters and bidirectional marks, with which a branch name could
 * disguise itself, come out as visible \u{...} escapes.
 */
#ifndef WEB_HTML_EMIT_H
#define WEB_HTML_EMIT_H

#include "lib/buf.h"

/** Markup that we wrote ourselves. */
static inline void emit_raw(struct buf *out, const char *markup)
{
	buf_puts(out, markup);
}
/** printf for markup whose arguments are numbers or our own words only. */
void emit_rawf(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_vrawf(struct buf *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/** Text between tags. */
void emit_text(struct buf *out, const char *text);
/** Text inside a double-quoted attribute. */
void emit_attribute(struct buf *out, const char *text);
/** Value of a query argument: everything but unreserved characters percent-encoded. */
void emit_argument(struct buf *out, const char *text);

#endif
