/* problem.c - struct of a case in the kernel ABI, and its buffers. */

#include "families/linear/linear.h"

bool linear_is_block(const struct linear_case *a)
{
	return a->model == LINEAR_BLOCK;
}

int64_t linear_tokens(const struct linear_case *a)
{
	return (int64_t)a->m * (linear_is_block(a) ? FW_LINEAR_BLOCK_TOKENS : 1);
}

/*
 * Describe an operand of float8dq: e4m3, or e5m2 for gradients scaled by tensor; in training, row scales are powers of two, those
 * of blocks are not.
 */
static struct fw_linear_operand fp8(const struct linear_case *a, int32_t which, bool training)
{
	bool by_tensor = a->recipe == LINEAR_FLOAT8DQ_TENSOR;

	if (a->plain & which)
		return (struct fw_linear_operand){ 0 };
	if (a->recipe == LINEAR_FLOAT8DQ_BLOCK)
		return (struct fw_linear_operand){ FW_E4M3, FW_LINEAR_BY_BLOCK, FW_LINEAR_SCALE_BLOCK, 0 };
	return (struct fw_linear_operand){ which == LINEAR_DY && by_tensor ? FW_E5M2 : FW_E4M3,
		by_tensor ? FW_LINEAR_BY_TENSOR : FW_LINEAR_BY_ROW, 0, training && !by_tensor ? FW_LINEAR_POWER_OF_TWO : 0 };
}

void linear_abi(const void *shape, enum direction d, void *out)
{
	const struct linear_case *a = shape;
	bool training = d != DIRECTION_FORWARD && d != DIRECTION_ONCE;
	struct fw_linear_shape s = { .struct_size = sizeof s, .m = a->m, .n = a->n, .k = a->k };

	s.prologue = linear_is_block(a) ? FW_LINEAR_BLOCK : a->model ? FW_LINEAR_LAYERNORM : FW_LINEAR_NO_PROLOGUE;
	s.activation = linear_is_block(a) ? FW_LINEAR_NO_ACTIVATION : a->model;
	if (a->recipe == LINEAR_INT8WO || a->recipe == LINEAR_FLOAT8WO)
		s.w = (struct fw_linear_operand){ a->recipe == LINEAR_INT8WO ? FW_I8 : FW_E4M3, FW_LINEAR_BY_ROW, 0, 0 };
	if (linear_group(a))
		s.w = (struct fw_linear_operand){ FW_I4, FW_LINEAR_BY_GROUP, linear_group(a), FW_LINEAR_ASYMMETRIC };
	if (linear_is_fp8(a)) {
		if (d != DIRECTION_DGRAD)
			s.x = fp8(a, LINEAR_X, training);
		if (d != DIRECTION_WGRAD || linear_is_block(a)) /* dW of a block depends on the gradients of inputs */
			s.w = fp8(a, LINEAR_W, training);
		if (training)
			s.dy = fp8(a, LINEAR_DY, training);
	}
	memcpy(out, &s, sizeof s);
}

enum slot_use linear_use(const void *shape, enum direction d, int slot)
{
	bool total = d == DIRECTION_TOTAL, forward = d == DIRECTION_FORWARD || d == DIRECTION_ONCE, dgrad = d == DIRECTION_DGRAD,
	     wgrad = d == DIRECTION_WGRAD;
	bool has_more = ((const struct linear_case *)shape)->model; /* normalisation and activation, or a block */

	switch (slot) {
	case FW_LINEAR_X:
		return dgrad && !has_more ? SLOT_UNUSED : SLOT_INPUT;
	case FW_LINEAR_W:
		return !wgrad || linear_is_block(shape) ? SLOT_INPUT : SLOT_UNUSED;
	case FW_LINEAR_DY:
		return forward ? SLOT_UNUSED : SLOT_INPUT;
	case FW_LINEAR_Y:
		return forward || total ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_LINEAR_DX:
		return dgrad || total ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_LINEAR_DW:
		return wgrad || total ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_LINEAR_S:
		return has_more && !forward ? SLOT_INPUT : SLOT_UNUSED;
	default:
		return SLOT_UNUSED;
	}
}

/* W changes too, so that no call can reuse a quantised copy or cached data of an earlier call. */
enum slot_change linear_change(const void *shape, enum direction d, int slot)
{
	bool gradient = d == DIRECTION_DGRAD || d == DIRECTION_WGRAD;

	(void)shape;
	return slot == (gradient ? FW_LINEAR_DY : FW_LINEAR_X) ? SLOT_ROLLS_FIRST : SLOT_ROLLS;
}

size_t linear_lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct linear_case *a = shape;
	bool is_weight = slot == FW_LINEAR_W || slot == FW_LINEAR_DW,
	     is_out = slot == FW_LINEAR_Y || slot == FW_LINEAR_DY || slot == FW_LINEAR_S;
	int64_t rows = !is_weight ? linear_tokens(a) : linear_is_block(a) ? 12 * (int64_t)a->k : a->n;
	int64_t columns = is_out ? a->n : a->k;

	if (linear_is_block(a) && slot == FW_LINEAR_S)
		columns *= FW_LINEAR_BLOCK_STORES;

	*t = (struct fw_tensor){ .stride = { columns, 1, 0 }, .dtype = FW_BF16 };
	return (size_t)rows * (size_t)columns * 2;
}
