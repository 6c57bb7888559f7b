/**
 * idle.h - work that the daemon queues while no job waits: peer comparisons, off-peak measurements, calibrations, change points
 * whose jobs had no result; and due retries.
 */
#ifndef FLOPWATCHD_IDLE_H
#define FLOPWATCHD_IDLE_H

#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"

struct idle;

/** Start; `wake(arg)` is called after jobs were queued. Own: borrows all of them until idle_stop. */
int idle_start(struct loop *l, const struct config *c, struct txn *g, void (*wake)(void *arg), void *arg, struct idle **out,
	struct fw_err *err);
void idle_stop(struct idle *i);

/** One step, for tests: number of queued jobs, -1. */
int idle_step(const struct config *c, struct txn *g, int64_t now_ms, struct fw_err *err);

#endif
