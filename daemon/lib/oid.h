/** oid.h - names of git's objects, as text: SHA-1 or SHA-256 in lower-case hex. Pure. */
#ifndef LIB_OID_H
#define LIB_OID_H

#include <stdbool.h>
#include <stddef.h>

/** A whole one: 40 or 64 digits and nothing else. NULL is none. */
bool oid_is_whole(const char *text);
/** The beginning of one, or one: `min` to 64 digits and nothing else; at least one. */
bool oid_is_prefix(const char *text, size_t min);

#endif
