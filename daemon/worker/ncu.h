/** ncu.h - counters by Nsight Compute around `flopwatch-runner --capture`, if the runner cannot read them itself. */
#ifndef WORKER_NCU_H
#define WORKER_NCU_H

#include "worker/buffered.h"

/**
 * Count the cells that have kernels but no counters yet: base, target, target, base, a process each. A failure is added to the
 * cell's reason. Err: cancelled, out of memory.
 */
int ncu_counters(struct buffered *k, struct fw_err *err);

/**
 * Run ncu around one call of a side; `options` (NULL-terminated) select the counters and the output. Returns 1: `said` has its
 * output; 0: ncu is missing or took too long, see `why`. Own: buf_fini of `said`, always. Shape: why[size]. Err: cancelled, out
 * of memory.
 */
int ncu_run(struct buffered *k, struct buffered_cell *c, int side, const char *const *options, struct buf *said, char *why,
	size_t size, struct fw_err *err);

/**
 * Assign ncu's output of one call to the kernels of that process: launch i of its table is kernel i of the call. Returns false
 * if the launches differ or there is no table; see `why`. Shape: why[size].
 */
bool ncu_take(struct buffered_process *p, const char *text, size_t len, char *why, size_t size);

#endif
