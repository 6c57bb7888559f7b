/** connect.h - connections to workers: a command here, on another host or in a Slurm allocation, or a socket. */
#ifndef FLOPWATCHD_SESSION_CONNECT_H
#define FLOPWATCHD_SESSION_CONNECT_H

#include "lib/err.h"
#include "lib/proc.h"
#include "flopwatchd/config/config.h"

enum { CONNECT_ENV_MAX = 16, CONNECT_ENV_TEXT = 4096 };

struct connection {
	int fd;            /* both directions */
	int errors_fd;     /* standard error, not blocking; -1: a socket worker, which has none here */
	struct proc child; /* pid 0: none */
};

/** Options of an allocation; "": unset. */
struct connect_as {
	const char *name; /* job name, by which the daemon finds the allocation again */
	const char *node; /* required node */
};

/**
 * Start the worker or connect to its socket. The child gets time to end before it is killed, because a scheduler or another
 * host holds resources for it. Own: on 0 the caller closes both descriptors and ends the child; on -1 nothing is open.
 */
int connect_worker(const struct config *c, const struct config_worker *w, const struct connect_as *as, struct connection *out,
	struct fw_err *err);

/** Variables passed to a worker, and no others. Shape: env[CONNECT_ENV_MAX], text[CONNECT_ENV_MAX]. */
void connect_environment(const char *env[CONNECT_ENV_MAX], char (*text)[CONNECT_ENV_TEXT]);

#endif
