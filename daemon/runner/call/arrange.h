/**
 * arrange.h - other inputs for each call, for the price of restoring them: rows that come from elsewhere in the masters.
 *
 * Q, K and V (backward: dO) are rolled, each by tokens of its own, so that every row of every result becomes another one and
 * nothing fits that was kept from an earlier call: no result, no copy of K or V, no softmax. Backward's K, V, O and LSE belong
 * together: they are as named, or those of a second forward, which ran on rolled K and V.
 */
#ifndef RUNNER_CALL_ARRANGE_H
#define RUNNER_CALL_ARRANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kernels/fw_attention.h"

struct problem;

/** Zeros: inputs as they are named. */
struct arrangement {
	bool second;                      /* backward: O and LSE of the second forward */
	int32_t roll[FW_ATTENTION_SLOTS]; /* tokens by which the first row lies further on in the master; of Q, K, V, dO */
	uint64_t sum[FW_ATTENTION_SLOTS]; /* checksums of the inputs as they then are, by arrange_sum */
};

/** Asynchronous: all inputs. */
int arrange_inputs(struct problem *p, const struct arrangement *a, struct fw_err *err);
/** Asynchronous: one input; the others stay. */
int arrange_slot(struct problem *p, int slot, const struct arrangement *a, struct fw_err *err);
/** arrange_inputs, wait, and note their sums in `a`. */
int arrange_sum(struct problem *p, struct arrangement *a, struct fw_err *err);

/**
 * From now on subject_forward runs twice on a backward problem, the second time with K and V rolled as in p->second.
 * Err: no memory; then there is no second forward.
 */
int arrange_vary(struct problem *p, int32_t roll_k, int32_t roll_v, struct fw_err *err);

#endif
