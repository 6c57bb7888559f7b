/**
 * sealed.h - a module as a sealed memfd: the hashed bytes are the loaded bytes, even if the file changes. The runner opens it
 * as /proc/self/fd/N.
 */
#ifndef WORKER_SANDBOX_SEALED_H
#define WORKER_SANDBOX_SEALED_H

#include "lib/err.h"
#include "lib/hash.h"

/** Copy `fd` from offset 0. Returns the memfd, sealed against every change, and its hash. Own: close. */
int sealed_copy(int fd, const char *name, char sha256[HASH_HEX], struct fw_err *err);
/** Copy the file at `path`, as sealed_copy does. */
int sealed_open(const char *path, char sha256[HASH_HEX], struct fw_err *err);
/** Make a text that a child reads once, at offset 0. It is not sealed: the child empties it for all holders. */
int sealed_once(const char *name, const void *data, size_t len, struct fw_err *err);

#endif
