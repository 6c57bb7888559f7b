/** ncu_stalls.h - warp stalls by Nsight Compute, for cells that only ncu could count. */
#ifndef WORKER_NCU_STALLS_H
#define WORKER_NCU_STALLS_H

#include "worker/buffered.h"

/**
 * Sample the cells that ncu counted on both sides, one run a side. A failure becomes their reason. Err: cancelled, out of
 * memory.
 */
int ncu_stalls(struct buffered *k, struct fw_err *err);

/**
 * Parse ncu's output of one call: launch i is kernel i of `p`. Returns false if the launches differ or there is no table; see
 * `why`. Own: buffered_clear_stalls. Shape: why[size].
 */
bool ncu_stalls_take(
	const struct buffered_process *p, const char *text, size_t len, struct buffered_stalls *out, char *why, size_t size);

#endif
