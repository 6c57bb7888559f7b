/**
 * listen.h - the socket that a server waits on.
 */
#ifndef WEB_HTTP_LISTEN_H
#define WEB_HTTP_LISTEN_H

#include "lib/err.h"

/**
 * Listen on an address, IPv4 or IPv6; `port` 0: any that is free. Sets *bound to the port. Own: the descriptor is the caller's.
 * Err: ERR_INVALID no address, ERR_BUSY another program has the port. -1.
 */
int http_listen(const char *host, int port, int *bound, struct fw_err *err);

#endif
