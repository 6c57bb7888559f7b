/**
 * name.h - ref names and commit texts are bytes that anybody may choose: one form to keep, one form to read.
 *
 * The kept form is percent-encoded (letters, digits and "-._~/" stay), so that it is plain ASCII and reads back to the same
 * bytes. The readable form is UTF-8: broken bytes become U+FFFD, characters that hide or reorder text become visible (\u202e).
 */
#ifndef GIT_NAME_H
#define GIT_NAME_H

#include <stddef.h>

#include "lib/buf.h"

void name_encode(struct buf *out, const char *bytes, size_t len);
/** Err: -1 for a bad escape or a NUL; `out` then holds nothing usable. */
int name_decode(struct buf *out, const char *encoded);
/** Units: at most `max` bytes, cut between characters with "...". */
void name_display(struct buf *out, const char *bytes, size_t len, size_t max);

#endif
