/**
 * launch.h - mode launch: all cells of one launch timed for all its subjects, cells in random order.
 */
#ifndef RUNNER_MODE_LAUNCH_H
#define RUNNER_MODE_LAUNCH_H

#include "runner/call/runner.h"

/** Time every cell of the run. Returns the exit status of the process. */
int mode_launch_run(struct runner *r);

#endif
