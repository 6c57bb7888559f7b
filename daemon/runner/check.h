/**
 * check.h - mode check: test every cell of a module for right results and for the contract of the kernel ABI.
 *
 * Writes a `check` record for each subject and cell, and for each planned cell `work` and, on CUDA, `node` records.
 */
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "runner/runner.h"

/** Check all cells of all loaded subjects. Returns the exit status of the process. */
int mode_check_run(struct runner *r);

#endif
