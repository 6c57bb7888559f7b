/** collect.h - the runner's processes of a profile: each counts one side's calls of all cells; none of them times anything. */
#ifndef WORKER_PROFILE_COLLECT_H
#define WORKER_PROFILE_COLLECT_H

#include "worker/profile/buffered.h"

/** What one process may take, hung kernels included: 30 s, or less where a launch may only take that. */
double collect_deadline_s(const struct bench *b);

/**
 * Processes base, target, target, base over the cells; one that a process cannot count is not tried by the next, and says why. Err: cancelled,
 * no runner.
 */
int collect_counters(struct buffered *k, struct fw_err *err);
/** For cells that are not counted and of which a side's kernels are not known from process `repeat`: ask without counters. */
int collect_kernels(struct buffered *k, int repeat, struct fw_err *err);

#endif
