/**
 * executor.h - the seam between a job and the machine that it runs on: submit, and it is pending for a reason, runs, or has ended.
 *
 * How long it is pending is nobody's fault and has no limit. Whoever loses interest says executor_end; what was started is then asked to
 * end, made to end when it does not, and, where a scheduler holds something for it, searched for there until nothing is left.
 */
#ifndef FLOPWATCHD_EXECUTOR_EXECUTOR_H
#define FLOPWATCHD_EXECUTOR_EXECUTOR_H

#include <stdbool.h>

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/loop.h"

struct executors; /* all of a daemon */
struct executor;  /* one submission */

/** What it waits for, in its scheduler's words. Texts live for the call. */
struct executor_wait {
	const char *id;     /* under which the scheduler knows it; "" not yet */
	const char *reason; /* "Resources"; or why the scheduler cannot be asked */
	int place;          /* in its queue, from 1; 0 unknown */
};

struct executor_hooks {
	/** It waits, and for what; again when that changes. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** Somebody may speak at the other end. Perhaps before executor_submit returns. Own: the descriptor is the executor's. */
	void (*running)(void *arg, int fd);
	/** A line that it printed beside what it says there. */
	void (*said)(void *arg, char *line);
	/** Its process has ended: "exit 3", "" well. Never for one that is none (executor_is_process). */
	void (*ended)(void *arg, const char *how);
};

/** Own: borrows l and c. What an earlier daemon left in a scheduler's queue is searched for and cancelled. */
int executors_new(struct loop *l, const struct config *c, struct executors **out, struct fw_err *err);
/** Ask all that still run to end and wait a moment for it; accepts NULL. */
void executors_free(struct executors *x);

/** Start or reach the worker, on `node` where one is named. Own: borrows w and hooks; until executor_end. Err: nothing is left behind, and no hook was called. */
int executor_submit(struct executors *x, const struct config_worker *w, const char *node, const struct executor_hooks *hooks,
	void *arg, struct executor **out, struct fw_err *err);
/** Whether it has a process, whose end is told. */
bool executor_is_process(const struct executor *e);
/** Nobody listens any more: no hook is called from here on, and what still runs has a moment to end. Accepts NULL. */
void executor_end(struct executor *e);

#endif
