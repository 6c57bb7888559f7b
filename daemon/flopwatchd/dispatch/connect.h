/** connect.h - get a line to a worker: start its command, or connect to its socket. */
#ifndef FLOPWATCHD_DISPATCH_CONNECT_H
#define FLOPWATCHD_DISPATCH_CONNECT_H

#include "base/err.h"
#include "base/proc.h"
#include "flopwatchd/runtime/config.h"

struct connection {
	int fd;            /* both directions */
	int errors_fd;     /* what it prints beside the protocol, not blocking; -1: a socket worker's does not come here */
	struct proc child; /* pid 0: none */
};

/** Own: on 0 the caller closes both descriptors and ends the child; on -1 nothing is left. */
int connect_worker(const struct config *c, const struct config_worker *w, struct connection *out, struct fw_err *err);

#endif
