/**
 * mig.h - instances of GPUs that are cut into several (MIG), each measured as a device of its own.
 *
 * CUDA shows a process a single instance, the first that CUDA_VISIBLE_DEVICES lets it see. So each is described in a process of
 * its own, and a process that measures names its device there before it calls CUDA.
 */
#ifndef RUNNER_DEVICE_MIG_H
#define RUNNER_DEVICE_MIG_H

#include <stdbool.h>

#include "core/protocol/protocol.h"
#include "runner/device/nvml.h"

/** UUIDs of what a process can be given, in the order in which "cuda:0", "cuda:1" count them. */
struct mig_names {
	int n;
	char uuid[PROTOCOL_DEVICES_MAX][NVML_UUID_SIZE];
};

/**
 * All GPUs and instances, where at least one is an instance; n is 0 where there are whole GPUs alone, which CUDA numbers itself.
 * What CUDA_VISIBLE_DEVICES names is all there is, as under a scheduler.
 */
void mig_names(struct mig_names *out);

/** Describe device `index` of this process. Returns 0, or -1 with `err`. */
typedef int mig_describe_fn(int index, struct msg_device *out, struct fw_err *err);
/** Describe each where it is the only one; what cannot be described is left out. Shape: out[max]. Returns their number. */
int mig_list(const struct mig_names *names, mig_describe_fn *describe, struct msg_device *out, int max);

/** Which of them "cuda", "cuda:1" or a UUID means; -1 none. */
int mig_find(const struct mig_names *names, const char *name);
/** From now on it is device 0 of this process, which has not called CUDA yet. Err: ERR_FULL. */
int mig_enter(const struct mig_names *names, int which, struct fw_err *err);
/** UUID of the instance that this process was given. Shape: uuid[size]. False: none, or more than one. */
bool mig_own(char *uuid, int size);

#endif
