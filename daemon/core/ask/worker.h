/** worker.h - what the daemon says of its workers to whoever shows them. */
#ifndef CORE_ASK_WORKER_H
#define CORE_ASK_WORKER_H

#include <stdint.h>

#include "core/suite/readonly.h"

/** A configured worker as it stands. All texts live for the call. */
struct worker_status {
	const char *name;
	const char *state;   /* "down" "starting" "free" "busy" */
	const char *why;     /* it is down; "" else */
	const char *version; /* "" before its first hello */
	const char *device;  /* it works on; "" none */
	int64_t job;         /* 0 none */
	int n_read_only;     /* folders of its machine that branch code may read there */
	const char (*read_only)[READONLY_PATH_SIZE];
};
typedef void worker_status_fn(void *to, const struct worker_status *worker);

#endif
