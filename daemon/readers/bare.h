/** bare.h - bare NaN and Infinity, which are no JSON but which printf and Google Benchmark write. */
#ifndef READERS_BARE_H
#define READERS_BARE_H

#include <jansson.h>
#include <stdbool.h>

/**
 * Copy a text, replacing each bare NaN and Infinity in a value's position by another value of the same length, so that lines
 * and columns stay valid. Shape: [len]. Own: free. NULL: out of memory.
 */
char *bare_replace(const char *text, size_t len);
/** Return whether a value replaces one. */
bool bare_is(const json_t *value);

#endif
