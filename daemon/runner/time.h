/** time.h - mode time: one run of all subjects over all cells, cells in random order. */
#ifndef RUNNER_TIME_H
#define RUNNER_TIME_H

#include "runner/runner.h"

int mode_time_run(struct runner *r);

#endif
