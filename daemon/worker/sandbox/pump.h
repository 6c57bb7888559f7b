/**
 * pump.h - the wait for one child: reads its output, serves the daemon, enforces deadlines.
 *
 * When pump_run returns, for any reason (end, deadline, cancel, a reader that stops), the child and all processes that it
 * started are gone, and its descriptors are drained and closed.
 */
#ifndef WORKER_SANDBOX_PUMP_H
#define WORKER_SANDBOX_PUMP_H

#include "lib/proc.h"
#include "worker/sandbox/peer.h"

/** Take bytes of a stream. Err: -1 ends the child and the stream; the reader is not called again. */
typedef int pump_read_fn(void *arg, const char *data, size_t len, struct fw_err *err);

struct pump_stream {
	pump_read_fn *read;
	void *arg;
	int child_fd; /* descriptor number in the child */
	bool socket;  /* not a pipe: no process can open it again through /proc and read the data */
	int fd;       /* set by pump_run */
};

struct pump {
	struct peer *peer;
	struct pump_stream stream[3];
	int n_streams;
	bool merge_stderr;                          /* stdout's stream also receives the child's stderr */
	int64_t deadline_ms;                        /* from now */
	int nice;                                   /* priority of the child; 0: the worker's */
	int (*tick)(void *arg, struct fw_err *err); /* called every tick_ms; -1 ends the child */
	int tick_ms;                                /* 0 means 100 */
	void *tick_arg;
	pid_t pid; /* of the child; set by pump_run */
};

/**
 * Start `spec` and wait for its end. `how` receives the end; timed_out if the deadline ended it. Err: -1 when it could not
 * start, was cancelled, or a reader or tick failed, with their error.
 */
int pump_run(struct pump *p, const struct proc_spec *spec, struct proc_exit *how, struct fw_err *err);
/** Wait `ms` without a child. Err: ERR_CANCELLED. */
int pump_sleep(struct peer *peer, int ms, struct fw_err *err);

#endif
