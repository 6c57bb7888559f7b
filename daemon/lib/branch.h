/**
 * branch.h - the two forms of a branch's name: the stored key, and the displayed text.
 *
 * The key is the name's bytes percent-encoded, except letters, digits and "-._~/", so that any name passes through JSON, CSV
 * and URLs. The text is UTF-8 without invisible characters.
 */
#ifndef LIB_BRANCH_H
#define LIB_BRANCH_H

#include "lib/buf.h"

enum { BRANCH_KEY_MAX = 1024 };

/** Append the displayed text. An invalid escape stays unchanged. */
void branch_text(struct buf *out, const char *key);

/**
 * Return the key of a branch given by its key or its name: a text that cannot be a key (`100%`, `a+b`, `50%41`, whose key would
 * be 50A) is a name and is encoded. A branch whose name reads as a key of another (`100%25`) is found by its key only. Shape:
 * key[BRANCH_KEY_MAX]; a name that does not fit becomes "%", which is no branch's key.
 */
void branch_key(const char *given, char *key);

#endif
