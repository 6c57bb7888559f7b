/**
 * cpu.h - declarations shared by the files of the CPU provider: its passes over memory.
 */
#ifndef LINEAR_CPU_H
#define LINEAR_CPU_H

#include "linear/sides.h"

/** Applied to a sum before it is rounded. Shape: bias bf16 [columns] or NULL. */
struct epilogue {
	const uint16_t *bias;
	int activation; /* enum fw_linear_activation */
};

/** Scratch for a thread. Units: floats. */
enum { PRODUCT_SCRATCH = (48 + 64) * 256 + 2 * 48 * 64 };

/**
 * One instruction set's copy of: out[row * out_stride + column] = epilogue(left right^T). If a side has blocks, sums are
 * multiplied by the factors of both sides after each block of depth. Shape: scratch [threads][PRODUCT_SCRATCH].
 */
typedef void product_fn(const struct side *left, const struct side *right, int32_t depth, const struct epilogue *epilogue,
	uint16_t *out, int64_t out_stride, float *scratch, int threads);

product_fn product_base;
#ifdef __x86_64__
product_fn product_v3; /* AVX2 and FMA */
product_fn product_v4; /* AVX-512 */
#endif

/**
 * Round a tensor as `operand` specifies. X and W are read in memory order, also if they are multiplied transposed.
 * Shape: to bf16 as many rows and columns as the tensor, packed; factor [operand->rows][operand_spans(operand)], not used for
 * 4-bit values, which include their factor.
 */
void quantise(const struct operand *operand, const struct contract_matrix *from, uint16_t *to, float *factor, int threads);

/** Mean of a row, and 1 / sqrt(variance + 1e-5). */
struct cpu_moments {
	double mean, inverse;
};
struct cpu_moments cpu_moments(const struct contract_matrix *x, int64_t row, int32_t k);

/** Prologue LAYERNORM. Shape: x (m, k), to (m, k) packed. */
void normalise(const struct contract_matrix *x, int32_t m, int32_t k, uint16_t *to, int threads);

/** to = dy activation'(s), rounded to bf16. Shape: dy, s (m, n), to (m, n) packed. */
void differentiate(const struct contract_matrix *dy, const struct contract_matrix *s, int activation, int32_t m, int32_t n,
	uint16_t *to, int threads);

/** The gradient of prologue LAYERNORM. Shape: x, dx (m, k), d (m, k) packed: the gradient of its result. */
void normalise_backward(
	const struct contract_matrix *x, const uint16_t *d, int32_t m, int32_t k, const struct contract_matrix *dx, int threads);

#endif
