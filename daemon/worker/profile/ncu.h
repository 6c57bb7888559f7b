/** ncu.h - counters by Nsight Compute around `flopwatch-runner --capture`, where the runner cannot read them itself. */
#ifndef WORKER_PROFILE_NCU_H
#define WORKER_PROFILE_NCU_H

#include "worker/profile/buffered.h"

/**
 * Count the cells that nobody has counted yet and whose kernels are known: base, target, target, base, a process each. What keeps it from
 * that is added to the cell's reason. Err: cancelled, out of memory.
 */
int ncu_counters(struct buffered *k, struct fw_err *err);

/**
 * Run it around one call of a side, with what is to be counted and how it is printed (`options`, NULL-ended). 1: `said` has what it printed; 0: it
 * is not there, or took too long, which `why` says. Own: buf_fini of `said`, always. Shape: why[size]. Err: cancelled, out of memory.
 */
int ncu_run(struct buffered *k, struct buffered_cell *c, int side, const char *const *options, struct buf *said, char *why,
	size_t size, struct fw_err *err);

/**
 * What ncu printed about one call, given to the kernels of that process: launch i of its table is kernel i of the call. False: they are not
 * the same launches, or there is no table; `why` says so. Shape: why[size].
 */
bool ncu_take(struct buffered_process *p, const char *text, size_t len, char *why, size_t size);

#endif
