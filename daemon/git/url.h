/** url.h - which places a fetch may connect to. */
#ifndef GIT_URL_H
#define GIT_URL_H

#include "base/err.h"

/**
 * Accept https://host/path, ssh://[user@]host[:port]/path, user@host:path, file:///path and absolute paths; refuse everything
 * else with the reason: other schemes, passwords in the URL, control bytes, and bytes that a remote shell would read.
 */
int url_check(const char *url, struct fw_err *err);

#endif
