/**
 * operands.h - the two matrices that a problem of fw_linear.h multiplies, and the check for shapes that no provider supports.
 * Every direction is out (rows, columns) = left (rows, depth) right (columns, depth)^T, summed along depth:
 *
 *     forward   Y  = X    W^T     depth k
 *     dgrad     DX = DY   W       depth n, the right side is W read down its columns
 *     wgrad     DW = DY^T X       depth m, both sides are read down their columns
 */
#ifndef LINEAR_OPERANDS_H
#define LINEAR_OPERANDS_H

#include "linear/contract.h"
#include "linear/rounding.h"

/** One side of the product. Units: `rows` and `depth` in elements. */
struct operand {
	int slot;                    /* enum fw_linear_buffer */
	bool is_transposed;          /* depth runs down the columns of the tensor */
	int32_t rows, depth;         /* of this side; swapped in the tensor if it is transposed */
	struct fw_linear_operand as; /* dtype is never 0 */
};

struct product {
	struct fw_linear_shape shape;
	struct operand left, right;
	int out; /* enum fw_linear_buffer */
};

/** Check the type and the scaling of an operand. Err: FW_UNSUPPORTED, with the reason. */
static inline int operand_check(const struct fw_linear_shape *s, const struct operand *o, char *why, size_t why_size)
{
	const char *const name = o->slot == FW_LINEAR_W ? "W" : o->slot == FW_LINEAR_X ? "X" : "DY";
	const struct fw_linear_operand *as = &o->as;
	switch (as->dtype) {
	case FW_BF16:
		if (as->scaling != FW_LINEAR_UNSCALED || as->flags)
			return contract_refuse(FW_UNSUPPORTED, why, why_size, "%s in bf16 has no scale", name);
		return FW_OK;
	case FW_E4M3:
	case FW_E5M2:
	case FW_I8:
		if (as->scaling == FW_LINEAR_BY_BLOCK) {
			if (as->dtype != FW_E4M3 || as->group != FW_LINEAR_SCALE_BLOCK || as->flags)
				return contract_refuse(FW_UNSUPPORTED, why, why_size,
					"%s with a scale for every block must be e4m3, in blocks of %d, without flags", name,
					FW_LINEAR_SCALE_BLOCK);
			return FW_OK;
		}
		if (as->scaling != FW_LINEAR_BY_TENSOR && as->scaling != FW_LINEAR_BY_ROW)
			return contract_refuse(
				FW_UNSUPPORTED, why, why_size, "%s in 8 bits is scaled by tensor, by row or by block", name);
		if (as->flags & ~(as->dtype == FW_I8 ? 0 : FW_LINEAR_POWER_OF_TWO))
			return contract_refuse(FW_UNSUPPORTED, why, why_size, "flags %d of %s are unknown", as->flags, name);
		return FW_OK;
	case FW_I4:
		if (o->slot != FW_LINEAR_W || as->scaling != FW_LINEAR_BY_GROUP || as->flags != FW_LINEAR_ASYMMETRIC ||
			as->group < 1)
			return contract_refuse(FW_UNSUPPORTED, why, why_size,
				"only W can be in 4 bits, asymmetric, with a scale for every group along k");
		if (s->k % as->group)
			return contract_refuse(
				FW_UNSUPPORTED, why, why_size, "k = %d is not a multiple of the group of %d", s->k, as->group);
		return FW_OK;
	default:
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "type %d of %s is unknown", as->dtype, name);
	}
}

/** Number of values along the depth that share a scale: all of them unless the operand has a scale for every block. */
ROUNDING int32_t operand_span(const struct operand *o)
{
	return o->as.scaling == FW_LINEAR_BY_BLOCK ? o->as.group : o->depth;
}

/** Number of scales of a row of this side: 1 unless the operand has a scale for every block. */
ROUNDING int32_t operand_spans(const struct operand *o)
{
	return (o->depth - 1) / operand_span(o) + 1;
}

static inline struct operand operand_make(
	int slot, bool is_transposed, int32_t rows, int32_t depth, const struct fw_linear_operand *as)
{
	const struct operand o = { slot, is_transposed, rows, depth, *as };
	return o;
}

/** Make the product of a problem. Err: FW_UNSUPPORTED no provider supports it, with the reason in `why`, which may be NULL. */
static inline int product_make(const struct fw_problem *problem, struct product *p, char *why, size_t why_size)
{
	const int status = contract_linear_problem(problem, why, why_size);
	if (status != FW_OK)
		return status;
	p->shape = contract_linear(problem);
	const struct fw_linear_shape *s = &p->shape;
	if (problem->direction == FW_FORWARD) {
		p->left = operand_make(FW_LINEAR_X, false, s->m, s->k, &s->x);
		p->right = operand_make(FW_LINEAR_W, false, s->n, s->k, &s->w);
		p->out = FW_LINEAR_Y;
	} else if (problem->direction == FW_DGRAD) {
		p->left = operand_make(FW_LINEAR_DY, false, s->m, s->n, &s->dy);
		p->right = operand_make(FW_LINEAR_W, true, s->k, s->n, &s->w);
		p->out = FW_LINEAR_DX;
	} else {
		p->left = operand_make(FW_LINEAR_DY, true, s->n, s->m, &s->dy);
		p->right = operand_make(FW_LINEAR_X, true, s->k, s->m, &s->x);
		p->out = FW_LINEAR_DW;
	}
	const int left = operand_check(s, &p->left, why, why_size);
	return left != FW_OK ? left : operand_check(s, &p->right, why, why_size);
}

/**
 * Get a bf16 matrix with `columns` columns from the bound slots, at any alignment.
 * Err: FW_INVALID it is missing or of another type, FW_UNSUPPORTED its rows are not contiguous; `error` contains which.
 */
static inline int matrix_take(const struct fw_io *io, int slot, int32_t columns, struct contract_matrix *m, char *error)
{
	static const char *const names[] = { "X", "W", "BIAS", "Y", "DY", "DX", "DW", "S" };
	if (!io || !io->slot || (uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, error, CONTRACT_TEXT_BYTES, "bind: %s is missing", names[slot]);
	const struct fw_tensor *t = &io->slot[slot];
	if (t->dtype != FW_BF16)
		return contract_refuse(FW_INVALID, error, CONTRACT_TEXT_BYTES, "bind: %s must be bf16", names[slot]);
	const bool is_packed = !t->stride[0] && !t->stride[1] && !t->stride[2];
	if (!is_packed && slot != FW_LINEAR_BIAS && t->stride[1] != 1)
		return contract_refuse(
			FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES, "bind: the rows of %s must be contiguous", names[slot]);
	m->data = t->data;
	m->stride = is_packed ? columns : t->stride[0];
	return FW_OK;
}

#endif
