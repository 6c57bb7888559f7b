/** limits.h - what one run may use: a hostile repository must cost a bounded amount of time and memory. */
#ifndef GIT_LIMITS_H
#define GIT_LIMITS_H

#include "lib/err.h"

/**
 * Bound processor time (a lower limit that is already set stays), address space and core files of this process. When the time is up
 * it prints one line and exits with 1: broken objects can make libgit2 loop for ever.
 */
int limits_set(int cpu_s, struct fw_err *err);
/** An object is read from here on: one that takes longer than any sound one ends the run in the same way, and is named. */
void limits_object(const char *oid);

#endif
