/**
 * measure.h - the sequential procedure: launch after launch over the cells that are still open, judged after each, until
 * every cell is decided or the budget is spent.
 *
 * Set 1 decides; a cell that would be a regression gets set 2, launches with seeds of their own; what is decided but wide, or may have more
 * slow calls than before, gets more launches while budget is left, and set 2 where those cost too much of the mean. A launch that dies costs the cell it died in, after one check of each side alone
 * has shown whose fault it was.
 */
#ifndef WORKER_BENCH_MEASURE_H
#define WORKER_BENCH_MEASURE_H

#include "worker/bench/bench.h"

/** Time all open cells. Records and launch lines go to the bench's sink; judgements stay in its cells. Err: cancelled, no runner. */
int measure_run(struct bench *b, struct fw_err *err);

/** Which cells the next launch takes, and for which set; 0 when nothing is left to do. Pure. Shape: list[n_cells]. */
int measure_next(const struct bench *b, int *list, int *set);

/**
 * A launch of this cell was void, for `reason`. After the third the cell is given up: what it has is all it gets, and one that has
 * nothing is unmeasured.
 */
int measure_void(struct bench *b, int cell, const char *reason, struct fw_err *err);

#endif
