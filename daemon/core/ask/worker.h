/** worker.h - what the daemon says of its workers to whoever shows them. */
#ifndef CORE_ASK_WORKER_H
#define CORE_ASK_WORKER_H

#include <stdint.h>

#include "core/suite/readonly.h"

/** A configured worker as it stands. All texts live for the call. */
struct worker_status {
	const char *name;
	int slot;               /* which of the jobs that it may have at once, from 0 */
	const char *state;      /* "down" "starting" "free" "pending" "busy" */
	const char *aim;        /* what its allocations are for: "build" "measure"; "" both, or it asks for none */
	const char *why;        /* it is down, or its allocation is pending; "" else, or not known */
	const char *allocation; /* under which its scheduler knows what is pending; "" not known, or nothing is */
	int place;              /* of that in the scheduler's queue, from 1; 0 unknown */
	const char *version;    /* "" before its first hello */
	const char *device;     /* it works on; "" none */
	int64_t job;            /* 0 none */
	int n_read_only;        /* folders of its machine that branch code may read there */
	const char (*read_only)[READONLY_PATH_SIZE];
};
typedef void worker_status_fn(void *to, const struct worker_status *worker);

/** A queued job for which there is no device as things stand: what it waits for and what to do, in a line. */
typedef void worker_unschedulable_fn(void *to, int64_t job, const char *why);

#endif
