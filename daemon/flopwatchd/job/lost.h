/** lost.h - losses in the first set of runs, by estimator. Pure. */
#ifndef FLOPWATCHD_JOB_LOST_H
#define FLOPWATCHD_JOB_LOST_H

#include "flopwatchd/job/result.h"

/** True if the first set of pairs shows a loss, confirmed or not: the cell needs no sustained runs. */
bool judge_lost_in_pairs(const struct result *r, int cell);

/** True if the first set of sustained runs shows a loss that others must confirm. */
bool judge_lost_in_sustained_runs(const struct result *r, int cell);

#endif
