/** kerneltimes.h - how long each kernel of a call takes, where nothing may be counted: by the driver's tracer. */
#ifndef RUNNER_MODE_KERNELTIMES_H
#define RUNNER_MODE_KERNELTIMES_H

#include "runner/mode/launched.h"

/**
 * Trace a few calls of a subject that is planned and bound, in cell place `i`, and set the median `ms` of each of its kernels; what is no kernel
 * stays without. -1 with `err`: they cannot be had, or are not those that the call runs, and none is set; with `f` (and `err`): the call failed.
 */
int kerneltimes_take(struct runner *r, int i, struct subject *u, struct launched *l, struct failure *f, struct fw_err *err);

#endif
