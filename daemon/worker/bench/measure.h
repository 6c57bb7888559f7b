/**
 * measure.h - the sequential procedure: run after run over the cells that are still open, judged after each, until
 * every cell is decided or the budget is spent.
 *
 * Set 1 decides; a cell that would be a regression gets set 2, runs with seeds of their own; what is decided but wide, or may have more
 * slow calls than before, gets more runs while budget is left, and set 2 where those cost too much of the mean. A result that is
 * doubted, because the base is slower than alone or the target too fast, is made sure of; what that reopens is measured on.
 */
#ifndef WORKER_BENCH_MEASURE_H
#define WORKER_BENCH_MEASURE_H

#include "worker/bench/bench.h"

/** Time all open cells. Records and run lines go to the bench's sink; judgements stay in its cells. Err: cancelled, no runner. */
int measure_run(struct bench *b, struct fw_err *err);

/** Which cells the next run takes, and for which set; 0 when nothing is left to do. Pure. Shape: list[n_cells]. */
int measure_next(const struct bench *b, int *list, int *set);

#endif
