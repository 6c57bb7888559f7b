/** swap.h - the counterfactual: the target timed with the configuration that its base chose. */
#ifndef WORKER_SWAP_H
#define WORKER_SWAP_H

#include "worker/buffered.h"

/**
 * For cells whose sides chose different configurations, time base, target, and the target with the base's configuration,
 * interleaved, in one process without tools. A target that refuses it or runs another, or a disturbed device, leaves the cell
 * without one; a note gives the reason. Err: cancelled, no runner.
 */
int swap_run(struct buffered *k, struct fw_err *err);

#endif
