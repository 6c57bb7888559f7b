/**
 * audit_belief.h - judgement of a gain by batches timed with two clocks. Pure.
 *
 * Each pair of batches of one side, a short and a long one, gives a slope by either clock: the time of one more call. Besides
 * the call this includes the copy of its inputs and its launch, some 20 us on a GPU, which pairs leave out. The base's excess
 * over its pairs is therefore subtracted from both sides; otherwise the gain of a short call would vanish. A gain is confirmed
 * when the medians of one audit's slopes confirm it. It is contradicted when the slopes of all audits together contradict it by
 * AUDIT_ERRORS standard errors: a busy machine disturbs batches at random, so a single median proves little.
 */
#ifndef WORKER_AUDIT_BELIEF_H
#define WORKER_AUDIT_BELIEF_H

#include <stdbool.h>
#include <stddef.h>

enum { AUDIT_PAIRS = 5, AUDIT_TRIES = 6 };

#define AUDIT_CLOCK_SHARE 0.8   /* minimum share of the supervisor's time that the device's clock must count */
#define AUDIT_GAIN_SHARE  0.5   /* minimum share of a gain, as a log ratio, that the supervisor must see */
#define AUDIT_SLACK_MS    0.005 /* a call: host cost of back-to-back launches */
#define AUDIT_BESIDE_MS   0.1   /* a call: upper bound of copying and launching */
#define AUDIT_ERRORS      3.0

/** One batch: number of calls, time by the supervisor's clock, time by the device's clock. Units: ms. */
struct audit_batch {
	int calls;
	double wall_ms, device_ms;
};

/** The gain that the pairs report. */
struct audit_claim {
	double gain;    /* ln of how many times faster the target is */
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

/** Return whether an audit confirms a gain; if not, `why` receives the reason. Shape: why[size]. */
bool audit_believes(const struct audit *a, const struct audit_claim *claim, char *why, size_t size);

/** Add the slopes of an audit; an incomplete audit adds none. */
void audit_pool_add(struct audit_pool *pool, const struct audit *a);

/** Return whether the pooled slopes contradict the gain. An empty pool does: a target under which no audit ends is rejected. */
bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim);

#endif
