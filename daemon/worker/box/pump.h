/**
 * pump.h - wait for one child while reading what it writes, attending the daemon, and keeping deadlines.
 *
 * Whatever happens (end, deadline, cancel, a reader that has seen enough), when pump_run returns the child and everything it
 * started are gone, its descriptors are drained and closed.
 */
#ifndef WORKER_BOX_PUMP_H
#define WORKER_BOX_PUMP_H

#include "base/proc.h"
#include "worker/box/peer.h"

/** Take bytes of a stream. Err: -1 ends the child, and the stream: it is not called again. */
typedef int pump_read_fn(void *arg, const char *data, size_t len, struct fw_err *err);

struct pump_stream {
	pump_read_fn *read;
	void *arg;
	int child_fd; /* descriptor under which the child writes */
	bool socket;  /* not a pipe: nobody can open it once more by its name below /proc and read what was written */
	int fd;       /* filled by pump_run */
};

struct pump {
	struct peer *peer;
	struct pump_stream stream[3];
	int n_streams;
	bool merge_stderr;                          /* the stream of child_fd 1 is also the child's 2 */
	int64_t deadline_ms;                        /* from now */
	int nice;                                   /* priority of the child; 0: ours */
	int (*tick)(void *arg, struct fw_err *err); /* every tick_ms; -1 ends the child */
	int tick_ms;                                /* 0: 100 */
	void *tick_arg;
	pid_t pid; /* of the child; filled by pump_run */
};

/**
 * Start `spec` and see it to its end. `how` tells how the child ended, timed_out when it was the deadline.
 * Err: -1 when it could not start, was cancelled, or a reader or tick refused: the error is theirs.
 */
int pump_run(struct pump *p, const struct proc_spec *spec, struct proc_exit *how, struct fw_err *err);
/** Wait `ms` without a child. Err: ERR_CANCELLED. */
int pump_sleep(struct peer *peer, int ms, struct fw_err *err);

#endif
