/**
 * contract.h - reads and checks the shape of a linear problem, for all linear providers. See also common/contract.h.
 */
#ifndef LINEAR_CONTRACT_H
#define LINEAR_CONTRACT_H

#include "common/contract.h"
#include "fw_linear.h"

#include <stdbool.h>

/** Copy the shape of a problem of this family. The caller's struct may be older and shorter: missing fields are 0. */
static inline struct fw_linear_shape contract_linear(const struct fw_problem *problem)
{
	struct fw_linear_shape s;
	const void *shape = problem->shape;
	const size_t size = ((const struct fw_linear_shape *)shape)->struct_size;
	memset(&s, 0, sizeof s);
	memcpy(&s, shape, size < sizeof s ? size : sizeof s);
	if (!s.x.dtype)
		s.x.dtype = FW_BF16;
	if (!s.w.dtype)
		s.w.dtype = FW_BF16;
	if (!s.dy.dtype)
		s.dy.dtype = FW_BF16;
	return s;
}

/** Whether an operand is multiplied without conversion. */
static inline bool contract_is_plain(const struct fw_linear_operand *operand)
{
	return operand->dtype == FW_BF16 && operand->scaling == FW_LINEAR_UNSCALED;
}

/** Whether the problem is valid for this family and has an existing direction. Err: FW_UNSUPPORTED, with the reason. */
static inline int contract_linear_problem(const struct fw_problem *problem, char *why, size_t size)
{
	const int64_t elements_max = 0x7fffffff;
	if (!problem || problem->family != FW_LINEAR)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only linear");
	const struct fw_linear_shape s = contract_linear(problem);
	if (s.prologue == FW_LINEAR_BLOCK)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only products, no transformer block");
	if (problem->direction != FW_FORWARD && problem->direction != FW_DGRAD && problem->direction != FW_WGRAD)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only forward, dgrad, wgrad and total");
	if (s.m < 1 || s.n < 1 || s.k < 1)
		return contract_refuse(FW_UNSUPPORTED, why, size, "m, n and k must be at least 1");
	if ((int64_t)s.m * s.k > elements_max || (int64_t)s.n * s.k > elements_max || (int64_t)s.m * s.n > elements_max)
		return contract_refuse(FW_UNSUPPORTED, why, size, "a tensor has more than 2^31 - 1 elements");
	if (problem->direction != FW_FORWARD && (s.prologue || s.activation || s.bias))
		return contract_refuse(FW_UNSUPPORTED, why, size, "gradients come without prologue, activation and bias");
	if (s.activation < 0 || s.activation >= FW_LINEAR_N_ACTIVATIONS || s.prologue < 0 || s.prologue > FW_LINEAR_LAYERNORM)
		return contract_refuse(FW_UNSUPPORTED, why, size, "unknown prologue or activation");
	return FW_OK;
}

/**
 * As contract_linear_problem, for providers that have one scale for a whole row of a side: scales by block are refused too.
 */
static inline int contract_linear_unblocked(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = contract_linear_problem(problem, why, size);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape s = contract_linear(problem);
	if (s.x.scaling == FW_LINEAR_BY_BLOCK || s.w.scaling == FW_LINEAR_BY_BLOCK || s.dy.scaling == FW_LINEAR_BY_BLOCK)
		return contract_refuse(FW_UNSUPPORTED, why, size,
			"scales by block change within a sum; only providers fp8, naive and cpu compute such sums");
	return FW_OK;
}

/** A matrix with contiguous rows. Units: stride in elements, from row to row. */
struct contract_matrix {
	void *data;
	int64_t stride;
};

/**
 * The bf16 matrix in a slot, with `columns` columns. Err: FW_INVALID it is missing, FW_UNSUPPORTED its layout; `error` contains
 * which.
 */
static inline int contract_matrix(
	const struct fw_io *io, int slot, const char *name, int64_t columns, struct contract_matrix *matrix, char *error)
{
	if ((uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, error, CONTRACT_TEXT_BYTES, "%s is missing", name);
	const struct fw_tensor *t = &io->slot[slot];
	if (t->dtype != FW_BF16)
		return contract_refuse(FW_INVALID, error, CONTRACT_TEXT_BYTES, "%s must be bf16", name);
	matrix->data = t->data;
	matrix->stride = t->stride[0] ? t->stride[0] : columns;
	if ((t->stride[0] && t->stride[1] != 1) || matrix->stride < columns || matrix->stride % 8 || (uintptr_t)t->data % 16)
		return contract_refuse(FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES,
			"%s: rows must be contiguous and start at multiples of 16 bytes", name);
	return FW_OK;
}

#endif
