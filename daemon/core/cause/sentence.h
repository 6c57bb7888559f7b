/** sentence.h - causes in words. */
#ifndef CORE_CAUSE_SENTENCE_H
#define CORE_CAUSE_SENTENCE_H

#include "core/cause/cause.h"

/**
 * A kernel's name for people: without what it returns, its namespaces and parameters, and without its template arguments where they are
 * long. Shape: out[CAUSE_NAME_SIZE].
 */
void sentence_kernel(const char *name, char *out);

/** Everything but ASCII that prints becomes "?": what is cut anywhere stays text. */
void sentence_plain(char *text);

/** "2.1", "0.0456", "1234". Shape: out[16]. */
void sentence_ms(double ms, char *out);

/**
 * Write c->sentence from its other members. `what` has the kernel as its subject, or none where there is no kernel; of what is not
 * explained it is what follows the figures. `own_ms` is what the kernel itself lost, 0 unknown.
 */
void sentence_write(struct cause *c, const char *what, double own_ms);
/** Of a configuration that is to blame: how it does that, "; KERNEL reads ...". */
void sentence_add_how(struct cause *c, const char *kernel, const char *what);

#endif
