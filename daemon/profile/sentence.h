/** sentence.h - causes as text. */
#ifndef PROFILE_SENTENCE_H
#define PROFILE_SENTENCE_H

#include "profile/cause.h"

/**
 * Shorten a kernel's name: without return type, namespaces and parameters, and without long template arguments. Shape:
 * out[CAUSE_NAME_SIZE].
 */
void sentence_kernel(const char *name, char *out);

/** Replace all but printable ASCII by "?", so that a cut at any byte stays text. */
void sentence_plain(char *text);

/** Format "2.1", "0.0456", "1234". Shape: out[16]. */
void sentence_ms(double ms, char *out);

/**
 * Write c->sentence from its other members. `what` is a predicate of the kernel, or a whole phrase without one; for
 * CAUSE_NOT_EXPLAINED it follows the numbers. `own_ms`: the kernel's loss, 0 unknown.
 */
void sentence_write(struct cause *c, const char *what, double own_ms);
/** Append the effect of a configuration, "; KERNEL reads ...". */
void sentence_add_how(struct cause *c, const char *kernel, const char *what);

#endif
