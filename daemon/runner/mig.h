/**
 * mig.h - instances of partitioned GPUs (MIG), each measured as a separate device.
 *
 * CUDA shows a process one instance only, the first in CUDA_VISIBLE_DEVICES. So each instance is described in a separate
 * process, and a measuring process puts its device there before it calls CUDA.
 */
#ifndef RUNNER_MIG_H
#define RUNNER_MIG_H

#include <stdbool.h>

#include "protocol/protocol.h"
#include "runner/nvml.h"

/** UUIDs of the available devices, in the order of "cuda:0", "cuda:1". */
struct mig_names {
	int n;
	char uuid[PROTOCOL_DEVICES_MAX][NVML_UUID_SIZE];
};

/**
 * List all GPUs and instances if at least one is an instance; n is 0 for whole GPUs only, which CUDA numbers itself.
 * CUDA_VISIBLE_DEVICES limits the list, as under a scheduler.
 */
void mig_names(struct mig_names *out);

/** Describe device `index` of this process. Returns 0, or -1 with `err`. */
typedef int mig_describe_fn(int index, struct msg_device *out, struct fw_err *err);
/** Describe each as the only device of a process; skip those that fail. Shape: out[max]. Returns their number. */
int mig_list(const struct mig_names *names, mig_describe_fn *describe, struct msg_device *out, int max);

/** Find "cuda", "cuda:1" or a UUID; -1 none. */
int mig_find(const struct mig_names *names, const char *name);
/** Make it device 0 of this process, which has not called CUDA yet. Err: ERR_FULL. */
int mig_enter(const struct mig_names *names, int which, struct fw_err *err);
/** Write the UUID of this process's instance. Shape: uuid[size]. Returns false for none or several. */
bool mig_own(char *uuid, int size);

#endif
