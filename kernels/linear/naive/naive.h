/**
 * naive.h - what the files of provider "naive" share: launches on the CUDA cores that read any matrix in any direction.
 *
 * Each function puts kernels on a stream and returns what their launch says.
 */
#ifndef LINEAR_NAIVE_H
#define LINEAR_NAIVE_H

#include "linear/sides.h"

#include <cuda_runtime.h>

/** Where a product goes. Shape: out and bias bf16; bias [columns] or NULL. Units: elements. */
struct naive_result {
	uint16_t *out;
	int64_t stride;
	const uint16_t *bias;
	int32_t activation; /* enum fw_linear_activation */
};

/** result = epilogue(left right^T), fp32 sums, one thread an element. */
cudaError_t naive_product(
	const struct side *left, const struct side *right, int32_t depth, const struct naive_result *result, cudaStream_t stream);

/**
 * Round a tensor as `operand` says; it is read as it lies in memory.
 * Shape: to bf16 as many rows and columns as the tensor, packed; factor [operand->rows], unused by 4-bit values, which carry theirs.
 */
cudaError_t naive_quantise(
	const struct operand *operand, const struct contract_matrix *from, uint16_t *to, float *factor, cudaStream_t stream);

/** Prologue LAYERNORM. Shape: x (m, k), to (m, k) packed. */
cudaError_t naive_normalise(const struct contract_matrix *x, int32_t m, int32_t k, uint16_t *to, cudaStream_t stream);

#endif
