/** lost.h - what the first set of looks calls a loss, by which of its estimators. Pure. */
#ifndef FLOPWATCHD_JUDGE_LOST_H
#define FLOPWATCHD_JUDGE_LOST_H

#include "flopwatchd/job/result.h"

/** Whether the first set of pairs calls a cell a loss, confirmed or still to be: it needs no sustained runs to tell. */
bool judge_lost_in_pairs(const struct result *r, int cell);

/** Whether the first set of sustained runs does, and has to be confirmed by others. */
bool judge_lost_in_sustained_runs(const struct result *r, int cell);

#endif
