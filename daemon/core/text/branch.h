/**
 * branch.h - the two forms of a branch's name: the key that is stored and asked for, and the text that people read.
 *
 * The key is the name's bytes percent-encoded, with letters, digits and "-._~/" as they are, so that names of any bytes travel
 * through JSON, CSV and addresses. The text is UTF-8 in which nothing hides.
 */
#ifndef CORE_TEXT_BRANCH_H
#define CORE_TEXT_BRANCH_H

#include "base/buf.h"

enum { BRANCH_KEY_MAX = 1024 };

/** Append what people read. An escape that is none stays as it is written. */
void branch_text(struct buf *out, const char *key);

/**
 * The key of a branch that is named by its key or by the name itself: a text that no key can be (`100%`, `a+b`, `50%41`, of which the key
 * would be 50A) is a name and is encoded. A branch whose own name reads as a key of another (`100%25`) is found by its key alone.
 * Shape: key[BRANCH_KEY_MAX]; a name that does not fit becomes "%", which is no branch's key.
 */
void branch_key(const char *given, char *key);

#endif
