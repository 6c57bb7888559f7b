/**
 * activity.h - start and end of each kernel of a call, from the driver's tracer, which needs no privilege.
 *
 * There is one tracer per process: the library's callbacks do not identify it.
 */
#ifndef RUNNER_ACTIVITY_H
#define RUNNER_ACTIVITY_H

#include "runner/cupti.h"

enum { ACTIVITY_KERNELS_MAX = 512 };

struct activity {
	const struct cupti_activity *cupti;
	bool is_on;
	int n; /* if above ACTIVITY_KERNELS_MAX, the rest was dropped */
	struct activity_seen {
		uint64_t start_ns, end_ns;
		int grid[3];
	} kernel[ACTIVITY_KERNELS_MAX]; /* by start */
};

/**
 * Start to trace. Own: activity_close, also after -1; do not move `a` until then. Err: ERR_UNSUPPORTED with a message for the
 * user.
 */
int activity_open(struct activity *a, struct fw_err *err);
/** Take the kernels that ended since the last call; requires that all work was waited for. */
int activity_take(struct activity *a, struct fw_err *err);
void activity_close(struct activity *a);

#endif
