/** diagnostic.h - the assembler's diagnostics about a kernel of the call. */
#ifndef PROFILE_DIAGNOSTIC_H
#define PROFILE_DIAGNOSTIC_H

#include "profile/pairing.h"

/**
 * Return whether a profiler's and a log's name mean the same kernel, ignoring return type, parameters and types of constants.
 * "f<...>" matches any f.
 */
bool diagnostic_names(const char *kernel, const char *logged);

/**
 * Find a diagnostic of serial products or spills about that kernel that came with the loss (`sign` 1), or went with the gain
 * (-1). NULL none.
 */
const struct cause_diagnostic *diagnostic_of(const struct cause_evidence *e, const struct kernel_pair *p, double sign, bool of_serial);

#endif
