/**
 * profile.h - why two builds differ: counters of every kernel on both sides, the machine code of both, and what a configuration does. It decides
 * nothing and is part of no verdict.
 */
#ifndef WORKER_PROFILE_PROFILE_H
#define WORKER_PROFILE_PROFILE_H

#include "worker/bench/bench.h"

/**
 * Profile up to EVIDENCE_CELLS_MAX cells of the bench, whose base and target are there, and send for each its `kernel`, `code`,
 * `counterfactual` and `profile` records, the last one last. `best`: EVIDENCE_RANGE to take the best path there is, or a lesser one to begin
 * with. A machine that cannot count says so in the `profile` record; that is no error. Err: cancelled, no runner.
 */
int profile_run(struct bench *b, const int *cell, int n, enum evidence_path best, struct fw_err *err);

#endif
