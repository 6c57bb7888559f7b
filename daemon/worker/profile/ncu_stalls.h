/** ncu_stalls.h - where warps wait, by Nsight Compute, where only that could count. */
#ifndef WORKER_PROFILE_NCU_STALLS_H
#define WORKER_PROFILE_NCU_STALLS_H

#include "worker/profile/buffered.h"

/** Of the cells that ncu counted, on both sides: a run a side. What keeps it from that is their reason. Err: cancelled, out of memory. */
int ncu_stalls(struct buffered *k, struct fw_err *err);

/**
 * What it printed about one call: launch i of it is kernel i of `p`. False: they are not the same launches, or there is no table; `why` says
 * so. Own: buffered_clear_stalls. Shape: why[size].
 */
bool ncu_stalls_take(
	const struct buffered_process *p, const char *text, size_t len, struct buffered_stalls *out, char *why, size_t size);

#endif
