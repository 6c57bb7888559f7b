/**
 * profile.h - mode profile: the kernels of one subject's call, and their counters. Kernels are serialised in such a process, so
 * its times decide nothing.
 */
#ifndef RUNNER_PROFILE_H
#define RUNNER_PROFILE_H

#include "runner/runner.h"

/**
 * Write for every cell a record for each kernel of a call, in order, and one that says how its counters were read, or why not.
 * Returns an exit status.
 */
int mode_profile_run(struct runner *r);

#endif
