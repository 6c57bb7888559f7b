/**
 * arrange.h - other inputs for each call, for the price of restoring them: rows that come from elsewhere in the masters.
 *
 * What the family lets roll is rolled, each tensor by rows of its own, so that every row of every result becomes another one and
 * nothing fits that was kept from an earlier call: no result, no copy of an input. A tensor of few rows is rolled by some of its
 * elements, across its rows. What a forward has left belongs together with the
 * inputs that it ran on: they are as named, or those of a second forward, which ran on rolled ones.
 */
#ifndef RUNNER_CALL_ARRANGE_H
#define RUNNER_CALL_ARRANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "family/family.h"

struct problem;

/**
 * What of an input changes from call to call. What the forward alone reads, of a direction that needs one, is SLOT_ROLLS_FORWARD
 * where the forward lets it change: what that has left would be the same both times.
 */
enum slot_change arrange_change(const struct problem *p, int slot);

/** Zeros: inputs as they are named. */
struct arrangement {
	bool second;                    /* what the second forward left */
	int32_t roll[FAMILY_SLOTS_MAX]; /* steps by which the first element lies further on in the master */
	uint64_t sum[FAMILY_SLOTS_MAX]; /* checksums of the inputs as they then are, by arrange_sum */
};

/** Bytes of a step: a row, or where there are too few of them to be another one in every call, a part of one. */
size_t arrange_step(const struct problem *p, int slot);
/** Asynchronous: all inputs. */
int arrange_inputs(struct problem *p, const struct arrangement *a, struct fw_err *err);
/** Asynchronous: one input; the others stay. */
int arrange_slot(struct problem *p, int slot, const struct arrangement *a, struct fw_err *err);
/** arrange_inputs, wait, and note their sums in `a`. */
int arrange_sum(struct problem *p, struct arrangement *a, struct fw_err *err);

/**
 * From now on forward_run runs twice on a problem that needs one, the second time with inputs rolled as in `rolled`.
 * Err: no memory; then there is no second forward.
 */
int arrange_vary(struct problem *p, const struct arrangement *rolled, struct fw_err *err);

#endif
