/** utf8.h - reading UTF-8 that may be broken, and telling characters that hide or reorder what a person reads. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

#define UTF8_INVALID UINT32_MAX

/**
 * Decode the character at `text[0]`. Returns the bytes it takes (at least 1 when len > 0); `*code` is UTF8_INVALID for a byte
 * that starts no valid character (overlong forms and surrogates are not valid).
 */
size_t utf8_next(const char *text, size_t len, uint32_t *code);
/** Control characters, marks that change the writing direction, and characters of no width. */
bool utf8_is_hidden(uint32_t code);
/**
 * Append `text` so that it can be read and does nothing: broken bytes become U+FFFD, hidden characters a visible \x1b or
 * \u202e. Characters of `keep` (ASCII, e.g. "\n\t") pass although they are hidden.
 */
void utf8_show(struct buf *out, const char *text, size_t len, const char *keep);

#endif
