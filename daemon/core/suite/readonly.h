/**
 * readonly.h - which folders of a machine branch code may be shown, read-only, beside the system's: those that hold a toolchain (conda, a
 * virtual environment, a library), and none that holds the system, a whole home, or keys. Pure: told by the path alone.
 */
#ifndef CORE_SUITE_READONLY_H
#define CORE_SUITE_READONLY_H

#include <stdbool.h>

enum { READONLY_MAX = 16, READONLY_PATH_SIZE = 512 };

/** What is wrong with a path, in words that follow it; NULL nothing. Letters that a remote shell would act on are wrong, too. */
const char *readonly_wrong(const char *path);
/** Whether `inner` is `outer` or lies in it. Both absolute and plain. */
bool readonly_lies_in(const char *inner, const char *outer);

#endif
