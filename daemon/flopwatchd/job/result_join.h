/** result_join.h - one result from several parts: a job whose cells were measured on several devices, each cell on one. */
#ifndef FLOPWATCHD_JOB_RESULT_JOIN_H
#define FLOPWATCHD_JOB_RESULT_JOIN_H

#include "flopwatchd/job/result.h"

/**
 * Add the results of a part: its runs follow the existing ones. A fault of the part's device concerns only the part's cells
 * without times. `set`: 2 if all of its runs confirm, 0 unchanged. Shape: cell[n], indices in `whole` of the part's cells. Own:
 * empties `part`, which the caller still frees. Err: too large.
 */
int result_join(struct result *whole, struct result *part, const int *cell, int n, int set, struct fw_err *err);
/** Drop timings and notes of some cells, which will be measured again. Shape: cell[n]. */
void result_forget(struct result *r, const int *cell, int n);

#endif
