/**
 * readonly.h - folders of a machine that branch code may read besides the system's: those with a toolchain (conda, a virtual
 * environment, a library), and none with the system, a whole home, or keys. Pure: decided by the path only.
 */
#ifndef MODEL_READONLY_H
#define MODEL_READONLY_H

#include <stdbool.h>

enum { READONLY_MAX = 16, READONLY_PATH_SIZE = 512 };

/** Return the fault of a path as a predicate of it; NULL none. Characters that a remote shell interprets are faults, too. */
const char *readonly_wrong(const char *path);
/** Return whether `inner` is `outer` or lies in it. Both absolute and plain. */
bool readonly_lies_in(const char *inner, const char *outer);

#endif
