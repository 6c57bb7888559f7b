/**
 * hostkey.h - whether an ssh server is the one that is meant: its key is pinned by a fingerprint or a known_hosts file, or it is refused.
 *
 * Nothing is learned on first use: the daemon has nobody to ask.
 */
#ifndef GIT_HOSTKEY_H
#define GIT_HOSTKEY_H

#include <stddef.h>

#include "lib/err.h"
#include "git/access.h"

/**
 * Accept or refuse the key that the server of `url` shows. Shape: key[len], as in RFC 4253.
 * Err: ERR_INVALID with the key's fingerprint and what to write.
 */
int hostkey_check(const struct git_access *a, const char *url, const unsigned char *key, size_t len, struct fw_err *err);

#endif
