/**
 * secret.h - files that hold a key, a token or a signing secret: only their owner may read them.
 *
 * Contents never appear in an error. A file that systemd passes as a credential grants its one reader by an access control list,
 * whose mask shows as the group's permission: then the list itself is what counts.
 */
#ifndef LIB_SECRET_H
#define LIB_SECRET_H

#include <stddef.h>

#include "lib/err.h"

/** Open a regular file that neither its group nor others may read or write. Own: the descriptor. Err: ERR_INVALID, with what to do. */
int secret_open(const char *path, struct fw_err *err);
/** The first line, 8 bytes at least, without its end. Shape: text[size]. Err: as secret_open; `text` then is "". */
int secret_read(const char *path, char *text, size_t size, struct fw_err *err);

#endif
