/** stalls.h - where warps of a call's kernels wait, instruction by instruction; in a process that does nothing else. */
#ifndef RUNNER_MODE_STALLS_H
#define RUNNER_MODE_STALLS_H

#include "runner/mode/launched.h"

/** A call that is planned and bound, in cell place `i`, and what it runs. */
struct stalls_call {
	struct runner *runner;
	struct subject *subject;
	int i;
	const struct launched *kernels;
	double call_ms;
};

/**
 * Sample some calls, and record a line for each kernel that was seen. -1 with `err`: samples cannot be had, in a sentence for people; with `f`
 * (and `err`): the call itself failed.
 */
int stalls_take(const struct stalls_call *c, struct failure *f, struct fw_err *err);

#endif
