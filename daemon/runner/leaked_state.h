/**
 * leaked_state.h - state that a module leaks into the shared process: device limits, persisting cache, rounding, threads,
 * memory, signal handlers, timers, priorities (hoststate.h).
 *
 * Each change is reported with its module in a `note` record and restored if possible before the next module runs. A permanent
 * change would affect the calls of others: "slowed". A process left running works outside the timed calls: "escaped".
 */
#ifndef RUNNER_LEAKED_STATE_H
#define RUNNER_LEAKED_STATE_H

#include "runner/runner.h"

/** Take a snapshot before one module runs alone, and before interleaved calls. */
void leaked_state_enter(struct runner *r);
/**
 * Report changes after one module ran alone. Memory is only counted, since a plan may hold some, until `end` says that the
 * subject must hold none; then, and after loading, the worker compares processes too. `i` is a position in run->cell, -1 none.
 * Err: the subject's fault.
 */
int leaked_state_leave(struct runner *r, int i, const struct subject *subject, bool end, struct failure *f);
/** Report changes after a timed call, done or queued: the quick settings, without memory. Once per subject. */
int leaked_state_between(struct runner *r, int i, const struct subject *subject, struct failure *f);

#endif
