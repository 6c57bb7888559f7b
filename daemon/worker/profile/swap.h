/** swap.h - the counterfactual: is the loss gone when the target runs with the configuration that its base chose? */
#ifndef WORKER_PROFILE_SWAP_H
#define WORKER_PROFILE_SWAP_H

#include "worker/profile/buffered.h"

/**
 * For cells whose sides chose other configurations: time base, target, and the target with the base's configuration, interleaved, in one
 * process without any tool. A target that refuses it or runs another, or a device that was disturbed, leaves the cell without; a note says why. Err: cancelled, no runner.
 */
int swap_run(struct buffered *k, struct fw_err *err);

#endif
