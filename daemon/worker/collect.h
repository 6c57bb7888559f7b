/** collect.h - the runner's processes of a profile. Each counts one side's calls of all cells, and measures no times. */
#ifndef WORKER_COLLECT_H
#define WORKER_COLLECT_H

#include "worker/buffered.h"

/** Return the time limit of one process, hung kernels included: 30 s, or less if a run has less. */
double collect_deadline_s(const struct bench *b);

/**
 * Run processes base, target, target, base over the cells. A cell that one process cannot count is skipped by the next, with a
 * reason. Err: cancelled, no runner.
 */
int collect_counters(struct buffered *k, struct fw_err *err);
/** Run process `repeat` without counters for cells that are not counted and lack a side's kernels of that process. */
int collect_kernels(struct buffered *k, int repeat, struct fw_err *err);

#endif
