/** connect.h - get a line to a worker: start its command, here, on another host or in an allocation of Slurm, or reach its socket. */
#ifndef FLOPWATCHD_EXECUTOR_CONNECT_H
#define FLOPWATCHD_EXECUTOR_CONNECT_H

#include "base/err.h"
#include "base/proc.h"
#include "flopwatchd/runtime/config.h"

enum { CONNECT_ENV_MAX = 16, CONNECT_ENV_TEXT = 4096 };

struct connection {
	int fd;            /* both directions */
	int errors_fd;     /* what it prints beside the protocol, not blocking; -1: a socket worker's does not come here */
	struct proc child; /* pid 0: none */
};

/** What an allocation is asked for as. Texts "": not said. */
struct connect_as {
	const char *name; /* by which it is found again */
	const char *node; /* on which it has to be */
};

/**
 * Start it, or reach it. The child is careful: it is asked to end before it is made to, because a scheduler or another host holds what
 * it stands for. Own: on 0 the caller closes both descriptors and ends the child; on -1 nothing is left.
 */
int connect_worker(const struct config *c, const struct config_worker *w, const struct connect_as *as, struct connection *out,
	struct fw_err *err);

/** Variables that remote shells, schedulers and CUDA need; nothing else of the daemon's environment goes to a worker. Shape: env[CONNECT_ENV_MAX], text[CONNECT_ENV_MAX]. */
void connect_environment(const char *env[CONNECT_ENV_MAX], char (*text)[CONNECT_ENV_TEXT]);

#endif
