/**
 * compare_alone.h - `flopwatch-worker compare`: two modules on the command line, no daemon; check, measure, judge, print.
 */
#ifndef WORKER_COMPARE_ALONE_H
#define WORKER_COMPARE_ALONE_H

#include "worker/two_modules.h"

/**
 * Run and print. Returns the exit status: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a side is broken or could not be measured;
 * -1 with `err` when nothing was measured.
 */
int compare_alone_run(const struct two_modules_options *o, struct fw_err *err);

#endif
