/**
 * idle.h - what the daemon does by itself while nothing waits: the upstream branch beside its peers, at night what no push measures, calibrations, change points
 * whose jobs brought nothing; and, at its time, what noise left undecided once more.
 */
#ifndef FLOPWATCHD_IDLE_H
#define FLOPWATCHD_IDLE_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"

struct idle;

/** Begin; `wake(arg)` is called after jobs were queued. Own: borrows all of them until idle_stop. */
int idle_start(struct loop *l, const struct config *c, struct txn *g, void (*wake)(void *arg), void *arg, struct idle **out,
	struct fw_err *err);
/** Accepts NULL. */
void idle_stop(struct idle *i);

/** One look, for tests: how many jobs it queued, -1. */
int idle_step(const struct config *c, struct txn *g, int64_t now_ms, struct fw_err *err);

#endif
