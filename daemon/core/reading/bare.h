/** bare.h - NaN and Infinity as they stand, which are no JSON and which printf and Google Benchmark write nevertheless. */
#ifndef CORE_READING_BARE_H
#define CORE_READING_BARE_H

#include <jansson.h>
#include <stdbool.h>

/**
 * A copy of a text in which every bare NaN and Infinity that stands for a value is another value of the same length, so that the rest keeps
 * its lines and columns. Shape: [len]. Own: free. NULL: out of memory.
 */
char *bare_replace(const char *text, size_t len);
/** Whether a value was such a one. */
bool bare_is(const json_t *value);

#endif
