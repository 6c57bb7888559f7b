/** worker.h - state of the workers, for status pages. */
#ifndef MODEL_WORKER_H
#define MODEL_WORKER_H

#include <stdint.h>

#include "model/readonly.h"

/** All texts live for the call. */
struct worker_status {
	const char *name;
	int slot;               /* number among its concurrent jobs, from 0 */
	const char *state;      /* "down" "starting" "free" "pending" "busy" */
	const char *aim;        /* use of its allocations: "build" "measure"; "" both, or it has none */
	const char *why;        /* why it is down, or its allocation is pending; "" else, or unknown */
	const char *allocation; /* the scheduler's id of a pending allocation; "" unknown, or none is pending */
	int position;           /* position in the scheduler's queue, from 1; 0 unknown */
	const char *version;    /* "" before its first hello */
	const char *device;     /* current device; "" none */
	int64_t job;
	int n_read_only; /* folders of its machine that branch code may read */
	const char (*read_only)[READONLY_PATH_SIZE];
};
typedef void worker_status_fn(void *to, const struct worker_status *worker);

/** Report a queued job that no device can run now: the reason and the remedy, in a line. */
typedef void worker_unschedulable_fn(void *to, int64_t job, const char *why);

#endif
