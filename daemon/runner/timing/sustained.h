/**
 * sustained.h - series sustained: one side at a time for a while, so that each settles at the clock that its own power draw allows.
 *
 * Pairs share one clock and give the ratio at equal clocks; sustained runs A B B A, or B A A B by chance, give the ratio that lasts. Both are
 * true. Before them both sides run in turns until the clock has come down under load. The order takes out what is linear in time, and
 * chance over runs what is not. A first look is A B or B A.
 */
#ifndef RUNNER_TIMING_SUSTAINED_H
#define RUNNER_TIMING_SUSTAINED_H

#include "runner/timing/timing.h"

/**
 * Sustained runs of base and target, both of which have to be among the subjects; as many rounds as the run says. Guards decide about a redo.
 * Writes one record. `busy_since_us`, of the device's host clock: since when both have run in turns.
 */
int sustained_run(struct timing *t, double busy_since_us, struct failure *f);

#endif
