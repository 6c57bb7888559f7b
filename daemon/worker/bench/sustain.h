/**
 * sustain.h - which cells run in sustained runs: a sentinel of each class (probe.h), briefly, in the first run, and all cells of a direction in which
 * a sentinel's sides settle at different clocks or take different energy in two runs, until their sustained change is judged. So does any
 * cell in whose pairs the sides' clocks differ by more than chance and by enough to hide a loss.
 */
#ifndef WORKER_BENCH_SUSTAIN_H
#define WORKER_BENCH_SUSTAIN_H

#include "worker/bench/bench.h"

/** Keep a `cell` record of series sustained, judge the cell anew, and note whether its direction needs sustained runs. 1 kept, 0 discarded. */
int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/** Whether cell `cell` runs in sustained runs in the coming run of `set`. */
bool sustain_wants(const struct bench *b, int cell, int set);
/** How many rounds of sustained runs a run of `set` has: one for the sentinels' first look, two for what is held against it, and judged. */
int sustain_rounds(const struct bench *b, int set);
/** Longer than that run its sustained runs alone do not take on a device that nothing disturbs. Units: s. Shape: sustained run[n]; NULL: none. */
double sustain_s(const struct bench *b, const bool *sustained_run, int n, int set);
/** Cells for a run of sustained runs alone, and its set; 0: none is needed. Pure. Shape: list[n_cells]. */
int sustain_next(const struct bench *b, int *list, int *set);

#endif
