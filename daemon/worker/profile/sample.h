/** sample.h - where warps wait, instruction by instruction: a process a side that does nothing else. */
#ifndef WORKER_PROFILE_SAMPLE_H
#define WORKER_PROFILE_SAMPLE_H

#include "worker/profile/buffered.h"

/**
 * Of the cells that the runner counted, on both sides; where it cannot be had, the cell says why and keeps none. Err: cancelled, no runner.
 */
int sample_stalls(struct buffered *k, struct fw_err *err);

#endif
