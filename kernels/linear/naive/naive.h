/**
 * naive.h - declarations shared by the files of provider "naive": launches on the CUDA cores that read any matrix in any
 * direction.
 *
 * Each function enqueues kernels on a stream and returns the result of their launch.
 */
#ifndef LINEAR_NAIVE_H
#define LINEAR_NAIVE_H

#include "linear/sides.h"

#include <cuda_runtime.h>

/** Destination of a product. Shape: out and bias bf16; bias [columns] or NULL. Units: elements. */
struct naive_result {
	uint16_t *out;
	int64_t stride;
	const uint16_t *bias;
	int32_t activation; /* enum fw_linear_activation */
};

/** result = epilogue(left right^T), fp32 sums, one thread per element. */
cudaError_t naive_product(
	const struct side *left, const struct side *right, int32_t depth, const struct naive_result *result, cudaStream_t stream);

/**
 * Round a tensor as `operand` specifies; it is read in memory order.
 * Shape: to bf16 as many rows and columns as the tensor, packed; factor as in struct side, not used for 4-bit values, which
 * include their factor.
 */
cudaError_t naive_quantise(
	const struct operand *operand, const struct contract_matrix *from, uint16_t *to, float *factor, cudaStream_t stream);

/** Prologue LAYERNORM. Shape: x (m, k), to (m, k) packed. */
cudaError_t naive_normalise(const struct contract_matrix *x, int32_t m, int32_t k, uint16_t *to, cudaStream_t stream);

#endif
