/**
 * input_variant.h - different inputs for each call at the cost of restoring them: rows from another offset of the masters.
 *
 * Each tensor that the family lets roll is rolled by its own number of rows, so every row of every result changes, and no
 * result or input copy of an earlier call is valid. A tensor of few rows is rolled by elements, across its rows. A forward's
 * results belong to the inputs of that forward: the named ones, or those of a second, rolled forward.
 */
#ifndef RUNNER_INPUT_VARIANT_H
#define RUNNER_INPUT_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/family.h"

struct problem;

/**
 * Return how an input changes from call to call. In a direction that needs a forward, an input that only the forward reads is
 * SLOT_ROLLS_FORWARD if rolling it leaves the forward's other results valid.
 */
enum slot_change variant_change(const struct problem *p, int slot);

/** Offsets of one set of inputs. Zeros: the named inputs. */
struct input_variant {
	bool second;                    /* use the second forward's results */
	int32_t roll[FAMILY_SLOTS_MAX]; /* offset of the first element in the master, in steps */
	uint64_t sum[FAMILY_SLOTS_MAX]; /* checksums of these inputs, set by variant_sum */
};

/** Return the bytes of a step: a row, or part of one if there are too few rows. */
size_t variant_step(const struct problem *p, int slot);
/** Set all inputs. Asynchronous. */
int variant_inputs(struct problem *p, const struct input_variant *a, struct fw_err *err);
/** Set one input. Asynchronous. */
int variant_slot(struct problem *p, int slot, const struct input_variant *a, struct fw_err *err);
/** Set all inputs, wait, and store their checksums in `a`. */
int variant_sum(struct problem *p, struct input_variant *a, struct fw_err *err);

/**
 * Make forward_run run a second time with inputs rolled as in `rolled`. Err: out of memory; then there is no second forward.
 */
int variant_add_second(struct problem *p, const struct input_variant *rolled, struct fw_err *err);

#endif
