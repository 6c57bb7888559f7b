/**
 * leaked_state.h - what a module leaves behind in the process that it shares: device limits, persisting cache, rounding, threads,
 * memory, signal handlers, timers, priorities (hoststate.h). Each is named with its module in a `note` record and, where that is
 * possible, set back before the next one runs. What cannot be set back would weigh on the others' calls: "slowed". A process
 * that is left running is work beside the calls: "escaped".
 */
#ifndef RUNNER_CALL_LEAKED_STATE_H
#define RUNNER_CALL_LEAKED_STATE_H

#include "runner/call/runner.h"

/** Before code of one module runs alone, and before calls of several are interleaved. */
void leaked_state_enter(struct runner *r);
/**
 * After code of one module ran alone: name what it changed. Memory is only counted, since a plan rightly holds some, until `end`
 * says that nothing of the subject should be left; then, and after it was loaded, the worker looks, too. `i` is a place in run->cell, -1 none. Err: it is the subject's.
 */
int leaked_state_leave(struct runner *r, int i, const struct subject *subject, bool end, struct failure *f);
/** After a timed call, which is done or queued: the same in less time, without memory. Said once of a subject. */
int leaked_state_between(struct runner *r, int i, const struct subject *subject, struct failure *f);

#endif
