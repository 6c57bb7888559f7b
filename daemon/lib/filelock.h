/** filelock.h - a file that several may have opened, and whose it is. Locks go with the descriptor, so with its process, however that ends. */
#ifndef LIB_FILELOCK_H
#define LIB_FILELOCK_H

#include <stdbool.h>

#include "lib/err.h"

/** Whether an open file is still the one that lies at `path`, not one that was removed, or that another one took the place of. */
bool filelock_is_at(int fd, const char *path);

/**
 * Lock an open file and empty it, unless somebody else has it or it is no longer at `path`. A file system without locks cannot tell. 1 it is
 * ours until it is closed, 0 another's. Err: ERR_IO, ERR_FULL it cannot be emptied.
 */
int filelock_claim(int fd, const char *path, struct fw_err *err);

#endif
