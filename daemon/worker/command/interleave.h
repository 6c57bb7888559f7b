/**
 * interleave.h - measures programs that take turns: runs of sessions, each cell until it is decided.
 *
 * Their pairs are judged as those of modules; what the worker's own clock says of their times decides whether they are believed.
 */
#ifndef WORKER_COMMAND_INTERLEAVE_H
#define WORKER_COMMAND_INTERLEAVE_H

#include "worker/command/process_run.h"

/** Whether base and target take turns, as their lists tell. */
bool interleave_taken(const struct command *m);
/** A side's cell as its program listed it: 1 it has times; 0 its fault is told; -1. */
int interleave_listed(struct command *m, int side, int cell, struct fw_err *err);
/**
 * Measure the open cells. 1 done; 0 base and target do not fit on the device together, as a note says: they can only be measured one after the
 * other. Err: -1 cancelled, or a fault of ours.
 */
int interleave_measure(struct command *m, struct fw_err *err);

#endif
