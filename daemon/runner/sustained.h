/**
 * sustained.h - series sustained: one side at a time for a while, so that each stabilises at the clock of its own power draw.
 *
 * Pairs share one clock and give the ratio at equal clocks; sustained runs A B B A, or B A A B at random, give the lasting
 * ratio. Both sides run interleaved first, until the clock has dropped under load. The order cancels linear drift, and
 * randomness over runs the rest. A first sentinel run is A B or B A.
 */
#ifndef RUNNER_SUSTAINED_H
#define RUNNER_SUSTAINED_H

#include "runner/timing.h"

/**
 * Make sustained runs of base and target, which must be among the subjects, with the run's number of rounds; device readings
 * decide on a redo. Writes one record. `busy_since_us`: start of the interleaved load, on the device's host clock.
 */
int sustained_run(struct timing *t, double busy_since_us, struct failure *f);

#endif
