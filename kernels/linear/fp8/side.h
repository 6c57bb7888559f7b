/**
 * side.h - one side of a product of 8-bit floats: its copy with contiguous rows, which wgmma requires of 8-bit operands.
 */
#ifndef LINEAR_FP8_SIDE_H
#define LINEAR_FP8_SIDE_H

#include "linear/operands.h"
#include "linear/quantise/quantise.h"

/** Offsets in bytes: of the copy and its scales, in persist for W, else in the workspace; of the partial results, in the workspace. */
struct fp8_side {
	struct operand of;
	struct quantise_source source;
	struct quantise_copy copy;
	int64_t values_at, scales_at, partial_at;
};

/** Whether such a copy can be made. Err: FW_UNSUPPORTED, with the reason. */
int fp8_side_check(const struct operand *, char *why, size_t why_size);

/** Describe the copy and advance both sizes by its memory. */
void fp8_side_make(struct fp8_side *, const struct operand *, int processors, int64_t *workspace_bytes, int64_t *persist_bytes);

/** Store addresses. `tensor`: what is quantised. */
void fp8_side_bind(struct fp8_side *, const struct contract_matrix *tensor, unsigned char *workspace, unsigned char *persist);

/** Enqueue the conversion. Returns the result of cudaGetLastError. */
int fp8_side_enqueue(const struct fp8_side *, void *stream);

/** The phase in which the side is converted. */
uint32_t fp8_side_phase(const struct fp8_side *);

#endif
