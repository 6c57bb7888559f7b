/**
 * input_variant.h - other inputs for each call, for the price of restoring them: rows that come from elsewhere in the masters.
 *
 * What the family lets roll is rolled, each tensor by rows of its own, so that every row of every result becomes another one and
 * nothing fits that was kept from an earlier call: no result, no copy of an input. A tensor of few rows is rolled by some of its
 * elements, across its rows. What a forward has left belongs together with the
 * inputs that it ran on: they are as named, or those of a second forward, which ran on rolled ones.
 */
#ifndef RUNNER_CALL_INPUT_VARIANT_H
#define RUNNER_CALL_INPUT_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "family/family.h"

struct problem;

/**
 * What of an input changes from call to call. What the forward alone reads, of a direction that needs one, is SLOT_ROLLS_FORWARD
 * where the forward lets it change: what that has left would be the same both times.
 */
enum slot_change variant_change(const struct problem *p, int slot);

/** Zeros: inputs as they are named. */
struct input_variant {
	bool second;                    /* what the second forward left */
	int32_t roll[FAMILY_SLOTS_MAX]; /* steps by which the first element lies further on in the master */
	uint64_t sum[FAMILY_SLOTS_MAX]; /* checksums of the inputs as they then are, by variant_sum */
};

/** Bytes of a step: a row, or where there are too few of them to be another one in every call, a part of one. */
size_t variant_step(const struct problem *p, int slot);
/** Asynchronous: all inputs. */
int variant_inputs(struct problem *p, const struct input_variant *a, struct fw_err *err);
/** Asynchronous: one input; the others stay. */
int variant_slot(struct problem *p, int slot, const struct input_variant *a, struct fw_err *err);
/** variant_inputs, wait, and note their sums in `a`. */
int variant_sum(struct problem *p, struct input_variant *a, struct fw_err *err);

/**
 * From now on forward_run runs twice on a problem that needs one, the second time with inputs rolled as in `rolled`.
 * Err: no memory; then there is no second forward.
 */
int variant_add_second(struct problem *p, const struct input_variant *rolled, struct fw_err *err);

#endif
