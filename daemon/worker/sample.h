/** sample.h - warp stalls by instruction: one process a side that only samples. */
#ifndef WORKER_SAMPLE_H
#define WORKER_SAMPLE_H

#include "worker/buffered.h"

/** Sample the cells that the runner counted on both sides; without samples the cell has a reason. Err: cancelled, no runner. */
int sample_stalls(struct buffered *k, struct fw_err *err);

#endif
