/**
 * check.h - mode check: is every cell of a module right, and does it keep the contract of the kernel ABI?
 *
 * For each subject and cell one `check` record, and for each cell that could be planned `work` and, on CUDA, `node` records.
 */
#ifndef RUNNER_MODE_CHECK_H
#define RUNNER_MODE_CHECK_H

#include "runner/call/runner.h"

/** Check all cells of all loaded subjects. Returns the exit status of the process. */
int mode_check_run(struct runner *r);

#endif
