/**
 * executor.h - submissions of a worker to a machine: pending for a reason, running or ended. A submission may be pending for
 * any time: no limit applies. After executor_end the child is asked to end and then killed; if a scheduler holds an allocation
 * for it, the daemon searches for it until it is gone.
 */
#ifndef FLOPWATCHD_SESSION_EXECUTOR_H
#define FLOPWATCHD_SESSION_EXECUTOR_H

#include <stdbool.h>

#include "flopwatchd/config/config.h"
#include "lib/loop.h"

struct executors; /* all of a daemon */
struct executor;  /* one submission */

/** State of a pending submission, in its scheduler's words. Texts live for the call. */
struct executor_wait {
	const char *id;     /* the scheduler's id; "": none yet */
	const char *reason; /* "Resources", or the error of the query */
	int position;       /* position in the queue, from 1; 0 unknown */
};

struct executor_hooks {
	/** The submission is pending; called again when the reason changes. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** The worker can be connected. May run before executor_submit returns. Own: the executor owns the descriptor. */
	void (*running)(void *arg, int fd);
	/** One line of the worker's standard error. */
	void (*said)(void *arg, char *line);
	/** The process ended: "exit 3", "" for success. Only if executor_is_process. */
	void (*ended)(void *arg, const char *how);
};

/** Cancels allocations that an earlier daemon left. Own: borrows l and c. */
int executors_new(struct loop *l, const struct config *c, struct executors **out, struct fw_err *err);
/** Ask all running children to end and wait a moment; accepts NULL. */
void executors_free(struct executors *x);

/** Start the worker or connect, on `node` if set. Own: borrows w and hooks until executor_end. Err: no hook was called. */
int executor_submit(struct executors *x, const struct config_worker *w, const char *node, const struct executor_hooks *hooks,
	void *arg, struct executor **out, struct fw_err *err);
/** True if it has a process, so that `ended` will be called. */
bool executor_is_process(const struct executor *e);
/** Call no hook from now on, and give the process a moment to end. Accepts NULL. */
void executor_end(struct executor *e);

#endif
