/**
 * acceptance.h - every cell of every module is checked before anything is timed: a fast wrong kernel gets no figure.
 *
 * One runner process holds one module. A process that dies costs the cell it died in, and the rest is checked by the next
 * one. Outcomes are kept in the cache per (module, provider, cell, device, runner); deaths and deadlines are not, since they
 * may be the machine's.
 */
#ifndef WORKER_BENCH_ACCEPTANCE_H
#define WORKER_BENCH_ACCEPTANCE_H

#include "worker/bench/bench.h"

/** Check all subjects on all cells: records go to the bench's sink, cells that fail are closed. Err: cancelled, no runner. */
int acceptance_run(struct bench *b, struct fw_err *err);

/**
 * Check one subject on one cell, past the cache, to see whether it dies by itself. 1 it failed, with `failure` and `detail`;
 * 0 it did not. Nothing is sent. Shape: failure[16], detail[512].
 */
int acceptance_solo(struct bench *b, int subject, int cell, char failure[16], char detail[512], struct fw_err *err);

#endif
