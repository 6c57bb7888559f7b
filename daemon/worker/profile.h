/**
 * profile.h - explanation of a difference between two builds: counters of every kernel on both sides, their machine code, and
 * the effect of a configuration. Changes no verdict.
 */
#ifndef WORKER_PROFILE_H
#define WORKER_PROFILE_H

#include "worker/bench.h"

/**
 * Profile up to EVIDENCE_CELLS_MAX cells of the bench, whose base and target exist, and send for each its `kernel`, `code`,
 * `counterfactual` and `profile` records, the last one last. `best`: EVIDENCE_RANGE for the best available path, or a lesser
 * one to start with. A machine without counters is no error: the `profile` record says so. Err: cancelled, no runner.
 */
int profile_run(struct bench *b, const int *cell, int n, enum evidence_path best, struct fw_err *err);

#endif
