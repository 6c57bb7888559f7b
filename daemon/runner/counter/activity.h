/**
 * activity.h - when each kernel of a call began and ended, as the driver's tracer has it, which asks for no privilege.
 *
 * One tracer a process: the library calls back without saying for whom.
 */
#ifndef RUNNER_COUNTER_ACTIVITY_H
#define RUNNER_COUNTER_ACTIVITY_H

#include "runner/counter/cupti.h"

enum { ACTIVITY_KERNELS_MAX = 512 };

struct activity {
	const struct cupti_activity *cupti;
	bool is_on;
	int n; /* more than ACTIVITY_KERNELS_MAX: some are not kept */
	struct activity_seen {
		uint64_t start_ns, end_ns;
		int grid[3];
	} kernel[ACTIVITY_KERNELS_MAX]; /* by their beginning */
};

/** Begin to trace. Own: activity_close, also after -1; `a` has to stay where it is until then. Err: ERR_UNSUPPORTED in a sentence for people. */
int activity_open(struct activity *a, struct fw_err *err);
/** All work was waited for: take the kernels that ended since the last call. */
int activity_take(struct activity *a, struct fw_err *err);
/** A zeroed one is fine. */
void activity_close(struct activity *a);

#endif
