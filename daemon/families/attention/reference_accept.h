/**
 * accept.h - is a kernel's result right? Compares it with the reference at the planned places.
 *
 * Every tensor must pass, with R the exact value, N the naive bf16 one and X the kernel's:
 *   every element finite (the caller poisons outputs with NaN before the call), in the whole tensor;
 *   |X - R| <= 2 max|N - R| + 2 max|bf16(bf16(R + 0.3) - 0.3) - R|, maxima over the planned places;
 *   ||X - R|| <= 1.1 ||N - R||, with room for the noise of a norm over few rows;
 *   no more than twice as many elements off by rtol |R| + 1e-8 (rtol 0.05 for O and dV, 0.15 dK, 0.3 dQ) as N has or its noise
 *   makes one expect, with room for noise, and never three quarters of them;
 *   each place's own ||X - R|| against its own noise, so that a dropped block shows in rows of small values too; a row of dQ may
 *   beside that be off by as much as the kernel's own softmax and delta shift it;
 *   LSE within 1e-3 relative (of 1 + |LSE|); places that see nothing exactly 0, their LSE -inf.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_ACCEPT_H
#define FAMILIES_ATTENTION_REFERENCE_ACCEPT_H

#include <stdbool.h>

#include "families/attention/reference.h"
#include "runner/family_check.h"

/**
 * Compare the outputs that `out` leads to (forward: O LSE; backward: DQ DK DV). `ops` may be NULL to skip the search for
 * non-finite elements outside the planned places.
 * Err: -1 only when a tensor cannot be read; a wrong result returns 0 with result->ok false.
 */
int accept_check(const struct reference *reference, const struct reference_ops *ops, const struct reference_io *out,
	struct accept_result *result, struct fw_err *err);

#endif
