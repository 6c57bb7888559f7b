/**
 * profile.h - mode profile: which kernels one subject's call runs, and what the GPU counted in each of them. Times of such a process are
 * those of kernels that run one by one, so none of them decides anything.
 */
#ifndef RUNNER_MODE_PROFILE_H
#define RUNNER_MODE_PROFILE_H

#include "runner/call/runner.h"

/**
 * For every cell a record for each kernel of a call, in run order, and one that says how its counters were read, or why they could not
 * be. Returns an exit status.
 */
int mode_profile_run(struct runner *r);

#endif
