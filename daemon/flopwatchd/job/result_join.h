/** result_join.h - one result out of parts: a job whose cells were measured on several devices, each cell on one of them. */
#ifndef FLOPWATCHD_JOB_RESULT_JOIN_H
#define FLOPWATCHD_JOB_RESULT_JOIN_H

#include "flopwatchd/job/result.h"

/**
 * Take over what a part has measured: its runs follow those that are there. What ailed the part's device concerns its own cells alone,
 * and of these those that have no times. `set`: 2 where all of its runs confirm, 0 as they are. Shape: cell[n] positions in `whole` of
 * the part's cells. Own: empties `part`, which is still to be freed. Err: it is too large.
 */
int result_join(struct result *whole, struct result *part, const int *cell, int n, int set, struct fw_err *err);
/** Forget what was timed of some cells, and noted: they are measured again. Shape: cell[n]. */
void result_forget(struct result *r, const int *cell, int n);

#endif
