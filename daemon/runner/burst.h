/**
 * burst.h - series sustained: one side at a time for a while, so that each settles at the clock that its own power draw allows.
 *
 * Pairs share one clock and give the ratio at equal clocks; bursts A B B A give the ratio that lasts. Both are true. The first
 * half of a burst lets clock and heat settle, the second is timed; the order takes out what is linear in time.
 */
#ifndef RUNNER_BURST_H
#define RUNNER_BURST_H

#include "runner/timing.h"

/** Bursts of base and target, both of which have to be among the subjects. Guards decide about a redo. Writes one record. */
int burst_run(struct timing *t, struct failure *f);

#endif
