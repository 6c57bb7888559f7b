/**
 * regular.h - opens files whose path a person or a repository chose: what is no regular file is refused, never waited for.
 *
 * A FIFO without a writer blocks a process that opens it for reading, and a device may do anything.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

#include <sys/stat.h>

#include "lib/err.h"

/**
 * Open a regular file for reading, through links. `what` stands before its path in errors: "the configuration ", or "".
 * Own: the descriptor. Err: -1; ERR_INVALID something else is there, which is named.
 */
int regular_open(const char *what, const char *path, struct fw_err *err);
/** "a FIFO", "a folder": what is there instead; NULL it is a regular file. */
const char *regular_wrong(const struct stat *st);

#endif
