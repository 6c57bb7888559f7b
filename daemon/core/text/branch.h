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
 * The key that somebody means, who may have written the name itself: characters that no key holds are encoded; a percent sign
 * counts as part of a key. Shape: key[BRANCH_KEY_MAX]; a name that does not fit becomes "%", which is nobody's key.
 */
void branch_key(const char *given, char *key);

#endif
