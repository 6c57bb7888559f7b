/** kerneltimes.h - time of each kernel of a call from the driver's tracer, if counters are not available. */
#ifndef RUNNER_KERNELTIMES_H
#define RUNNER_KERNELTIMES_H

#include "runner/launched.h"

/**
 * Trace a few calls of a planned and bound subject, in cell position `i`, and set the median `ms` of each of its kernels.
 * Returns -1 with `err`: no times, or not those of the call's kernels, and none is set; with `f` (and `err`): the call failed.
 */
int kerneltimes_take(struct runner *r, int i, struct subject *u, struct launched *l, struct failure *f, struct fw_err *err);

#endif
