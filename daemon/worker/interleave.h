/**
 * interleave.h - measurement of interleaved programs: runs of sessions until each cell is decided.
 *
 * Their pairs are judged as those of modules; the worker's own clock decides whether the reported times are trusted.
 */
#ifndef WORKER_INTERLEAVE_H
#define WORKER_INTERLEAVE_H

#include "worker/program_run.h"

/** Return whether base and target can be interleaved, according to their lists. */
bool interleave_taken(const struct command *m);
/** Check a side's cell in its program's list. Returns 1 with times; 0 without, and its fault is reported; -1. */
int interleave_listed(struct command *m, int side, int cell, struct fw_err *err);
/**
 * Measure the open cells. Returns 1 done; 0 base and target do not fit on the device together, with a note: measure them one
 * after the other. Err: -1 cancelled, or an error of the worker.
 */
int interleave_measure(struct command *m, struct fw_err *err);

#endif
