/** settle.h - the state that each call of a profile begins in. */
#ifndef RUNNER_MODE_SETTLE_H
#define RUNNER_MODE_SETTLE_H

#include "runner/call/runner.h"

/** Inputs restored, outputs poisoned, the cache displaced, as before a timed call; and waited for. -1 with `f`: the device refused. */
int settle_state(struct runner *r, struct subject *u, struct failure *f);

#endif
