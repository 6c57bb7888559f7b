/** percent.h - bytes as %XX, as addresses and the names of branches write them. */
#ifndef LIB_PERCENT_H
#define LIB_PERCENT_H

#include "lib/buf.h"

/** Append letters, digits and the characters of `kept` as they are, every other byte as %XX. */
void percent_encode(struct buf *out, const char *bytes, size_t len, const char *kept);

/** The byte that a %XX at `at` (any text) stands for; -1: no such thing is there. */
int percent_byte(const char *at);

/** Decode %XX; a % that is followed by something else stays as it is. Shape: out[strlen(text) + 1]; a %00 ends it early. */
void percent_decode(const char *text, char *out);

#endif
