/**
 * sealed.h - a module as a sealed memfd: the bytes that were hashed are the bytes that get loaded, whatever happens to the
 * file in between. The runner opens it as /proc/self/fd/N.
 */
#ifndef WORKER_BOX_SEALED_H
#define WORKER_BOX_SEALED_H

#include "base/err.h"
#include "base/hash.h"

/** Copy `fd` from offset 0. Returns the memfd, sealed against every change, and its hash. Own: close. */
int sealed_copy(int fd, const char *name, char sha256[HASH_HEX], struct fw_err *err);
/** Copy the file at `path`. */
int sealed_open(const char *path, char sha256[HASH_HEX], struct fw_err *err);
/** A text that a child reads once, offset 0: not sealed, so that the child can take it away from everybody who holds it. */
int sealed_once(const char *name, const void *data, size_t len, struct fw_err *err);

#endif
