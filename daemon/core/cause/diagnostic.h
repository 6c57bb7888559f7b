/** diagnostic.h - which of the assembler's diagnostics is about a kernel of the call. */
#ifndef CORE_CAUSE_DIAGNOSTIC_H
#define CORE_CAUSE_DIAGNOSTIC_H

#include "core/cause/pairing.h"

/**
 * Whether a profiler's name of a kernel and a log's are of the same one: without what it returns, its parameters and the types of its
 * constants. "f<...>" is any f.
 */
bool diagnostic_names(const char *kernel, const char *logged);

/** One about that kernel which came with the loss (`sign` 1), or went with the gain (-1), of serial products or of spills. NULL none. */
const struct cause_diagnostic *diagnostic_of(const struct cause_evidence *e, const struct pair *p, double sign, bool of_serial);

#endif
