/**
 * sustain.h - selection of the cells with sustained runs.
 *
 * A sentinel of each class (probe.h) runs briefly, in the first run. All cells of a direction follow if the sides of a sentinel
 * stabilise at different clocks or take different energy in two runs, until their sustained change is judged. So does any cell
 * whose sides' clocks differ in pairs by more than chance and by enough to hide a regression.
 */
#ifndef WORKER_SUSTAIN_H
#define WORKER_SUSTAIN_H

#include "worker/bench.h"

/**
 * Store a `cell` record of series sustained, judge the cell again, and note whether its direction needs sustained runs. Returns
 * 1 stored, 0 discarded.
 */
int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/** Return whether cell `cell` has sustained runs in the next run of `set`. */
bool sustain_wants(const struct bench *b, int cell, int set);
/**
 * Return the number of rounds of sustained runs in a run of `set`: one for the sentinels' first run, two for runs that are
 * compared with it.
 */
int sustain_rounds(const struct bench *b, int set);
/**
 * Return the longest time of its sustained runs alone on an undisturbed device. Units: s. Shape: sustained_run[n]; NULL: none.
 */
double sustain_s(const struct bench *b, const bool *sustained_run, int n, int set);
/** Choose the cells and the set of a run of sustained runs only; 0: none is needed. Pure. Shape: list[n_cells]. */
int sustain_next(const struct bench *b, int *list, int *set);

#endif
