/** stalls.h - warp stalls of a call's kernels by instruction, in a process that only samples. */
#ifndef RUNNER_STALLS_H
#define RUNNER_STALLS_H

#include "runner/launched.h"

/** A planned and bound call in cell position `i`, and its kernels. */
struct stalls_call {
	struct runner *runner;
	struct subject *subject;
	int i;
	const struct launched *kernels;
	double call_ms;
};

/**
 * Sample some calls, and write a record for each sampled kernel. Returns -1 with `err`: no samples, with a message for the
 * user; with `f` (and `err`): the call failed.
 */
int stalls_take(const struct stalls_call *c, struct failure *f, struct fw_err *err);

#endif
