/**
 * audit_belief.h - what batches timed by two clocks say of a gain. Pure.
 *
 * Each pair of batches of one side, a short and a long one, gives a slope by either clock: what one more call takes. Beside the call
 * itself that is copying its inputs and launching it, some 20 us on a GPU, which pairs leave out: what the base takes here beyond
 * what pairs say of it is taken off both sides, else a gain of a short call would vanish in it. A gain is
 * believed when the medians of one audit's slopes bear it out. It is contradicted when those of all audits together do so by
 * AUDIT_ERRORS standard errors: a busy machine takes its time from batches at random, and then a single median tells little.
 */
#ifndef WORKER_BENCH_AUDIT_BELIEF_H
#define WORKER_BENCH_AUDIT_BELIEF_H

#include <stdbool.h>
#include <stddef.h>

enum { AUDIT_PAIRS = 5, AUDIT_TRIES = 6 };

#define AUDIT_CLOCK_SHARE 0.8   /* of the supervisor's time the device has to account for */
#define AUDIT_GAIN_SHARE  0.5   /* of a gain, as a log ratio, the supervisor has to see */
#define AUDIT_SLACK_MS    0.005 /* a call; launching back to back costs the host that much */
#define AUDIT_BESIDE_MS   0.1   /* a call; copying and launching cost at most that much */
#define AUDIT_ERRORS      3.0

/** One batch: how many calls, how long by the supervisor, how long by the device. Units: ms. */
struct audit_batch {
	int calls;
	double wall_ms, device_ms;
};

/** What pairs say. */
struct audit_claim {
	double gain;    /* log of how many times faster the target is */
	double base_ms; /* of a call of the base */
};

/** Batches of one cell. Shape: [base, target][pair][short, long]. */
struct audit {
	int n[2]; /* batches so far of each side */
	struct audit_batch batch[2][AUDIT_PAIRS][2];
};

/** Slopes of all audits of one cell. Shape: [base, target][n]. Units: ms a call. */
struct audit_pool {
	int n;
	double wall[2][AUDIT_TRIES * AUDIT_PAIRS], device[2][AUDIT_TRIES * AUDIT_PAIRS];
};

/** Whether an audit bears out a gain. False: why not, in words. Shape: why[size]. */
bool audit_believes(const struct audit *a, const struct audit_claim *claim, char *why, size_t size);

/** Keep the slopes of an audit; one that is not whole brings none. */
void audit_pool_add(struct audit_pool *pool, const struct audit *a);

/** Whether what was pooled contradicts the gain. An empty pool does: a target under which no audit ends is not believed. */
bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim);

#endif
