/** settle.h - the state in which each call of a profile begins. */
#ifndef RUNNER_SETTLE_H
#define RUNNER_SETTLE_H

#include "runner/runner.h"

/** Restore inputs, poison outputs, displace the cache, as before a timed call, and wait. Returns -1 with `f`. */
int settle_state(struct runner *r, struct subject *u, struct failure *f);

#endif
