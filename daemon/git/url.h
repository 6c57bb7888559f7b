/** url.h - which places a fetch may connect to. */
#ifndef GIT_URL_H
#define GIT_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

/**
 * Accept https://host/path, ssh://[user@]host[:port]/path, user@host:path, file:///path and absolute paths; refuse everything
 * else with the reason: other schemes, passwords in the URL, control bytes, and bytes that a remote shell would read.
 */
int url_check(const char *url, struct fw_err *err);

/** Whether it names a server: neither file:///path nor an absolute path. */
bool url_is_remote(const char *url);

/** Host, without brackets, and port of an url that url_check accepts and that names a server. Shape: host[size]. Err: ERR_INVALID. */
int url_server(const char *url, char *host, size_t size, int *port, struct fw_err *err);

#endif
