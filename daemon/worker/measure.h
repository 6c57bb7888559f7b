/**
 * measure.h - sequential procedure: runs over the open cells, judged after each, until every cell is decided or the budget is
 * spent.
 *
 * Set 1 decides. A cell that would be a regression gets set 2, runs with their own seeds. A decided cell that is wide, or may
 * have more slow calls than before, gets more runs while budget is left, and set 2 where those cost too much of the mean. A
 * doubted result, because the base is slower than alone or the target too fast, is verified; if that reopens the cell, runs
 * continue.
 */
#ifndef WORKER_MEASURE_H
#define WORKER_MEASURE_H

#include "worker/bench.h"

/** Time all open cells. Records go to the bench's sink, judgements stay in its cells. Err: cancelled, no runner. */
int measure_run(struct bench *b, struct fw_err *err);

/** Choose the cells of the next run and its set; 0 if nothing is left. Pure. Shape: list[n_cells]. */
int measure_next(const struct bench *b, int *list, int *set);

#endif
