/**
 * audit.h - results that are too good are measured again by a clock outside the process that branch code runs in.
 *
 * Whoever is loaded into the runner can forge its clock; nobody there can reach this one. The runner makes K and 3K calls of
 * either side when it is told to, five pairs, and the time between go and done is taken here. By the medians of the slopes:
 *   the device's own time of a call must be at least AUDIT_CLOCK_SHARE of the time that passed here;
 *   at least half of the improvement, as a log ratio, must be seen here too.
 * A busy machine can fail that by chance, a forged clock always does: it is tried AUDIT_TRIES times, with a launch before each try
 * but the first. Those count as any other, so that a gain that a machine had only while it was idle is none any more, and who is
 * accused claimed it all the time.
 */
#ifndef WORKER_BENCH_AUDIT_H
#define WORKER_BENCH_AUDIT_H

#include "worker/bench/bench.h"

enum { AUDIT_PAIRS = 5, AUDIT_TRIES = 6 };

/** Improvements from this on are audited. */
#define AUDIT_CHANGE_PCT  20.0
#define AUDIT_CLOCK_SHARE 0.8
#define AUDIT_SLACK_MS    0.005 /* a call; launching back to back costs the host that much */

/** One batch: how many calls, how long here, how long by the device. */
struct audit_batch {
	int calls;
	double wall_ms, device_ms;
};

/** Batches of one cell. Shape: [base, target][pair][short, long]. */
struct audit {
	int n[2]; /* batches so far of each side */
	struct audit_batch batch[2][AUDIT_PAIRS][2];
};

/** Whether an improvement of base_ms to target_ms is borne out. False: why not, in words. Pure. Shape: why[size]. */
bool audit_believes(const struct audit *a, double base_ms, double target_ms, char *why, size_t size);

/** Audit every cell whose improvement is large enough. What is not believed becomes a fault of the target, class "clock". Nothing on sim. */
int audit_run(struct bench *b, struct fw_err *err);

#endif
