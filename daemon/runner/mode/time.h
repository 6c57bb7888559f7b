/** time.h - mode time: one run of all subjects over all cells, cells in random order. */
#ifndef RUNNER_MODE_TIME_H
#define RUNNER_MODE_TIME_H

#include "runner/call/runner.h"

/** Time every cell of the run. Returns the exit status of the process. */
int mode_time_run(struct runner *r);

#endif
