/**
 * compare_alone.h - `flopwatch-worker compare`: check, measure, judge and print two modules of the command line, without a
 * daemon.
 */
#ifndef WORKER_COMPARE_ALONE_H
#define WORKER_COMPARE_ALONE_H

#include "worker/two_modules.h"

/**
 * Run and print. Returns the exit status: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a side is broken
 * or could not be measured; -1 with `err` if nothing was measured.
 */
int compare_alone_run(const struct two_modules_options *o, struct fw_err *err);

#endif
