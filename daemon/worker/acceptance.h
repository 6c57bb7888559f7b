/**
 * acceptance.h - checks of every cell of every module, before any timing.
 *
 * One runner process holds one module. A process that dies fails the cell it died in; the next process checks the rest. The
 * cache stores outcomes by (module, provider, cell, device, runner). Deaths and timeouts are not cached: the machine may have
 * caused them.
 */
#ifndef WORKER_ACCEPTANCE_H
#define WORKER_ACCEPTANCE_H

#include "worker/bench.h"

/** Check all subjects on all cells: send records to the bench's sink and close cells that fail. Err: cancelled, no runner. */
int acceptance_run(struct bench *b, struct fw_err *err);

/**
 * Check one subject on one cell without the cache, to see whether it fails alone. Returns 1 if it failed, with `failure` and
 * `detail`, 0 if not. Sends nothing. Shape: failure[16], detail[512].
 */
int acceptance_solo(struct bench *b, int subject, int cell, char failure[16], char detail[512], struct fw_err *err);

#endif
