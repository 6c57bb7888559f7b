/* slots.c - buffers of a problem: the slots of each direction, their layout, and the offsets of groups. */
#include "families/grouped/grouped.h"

enum slot_use grouped_use(const void *shape, enum direction d, int slot)
{
	bool forward = d == DIRECTION_FORWARD, dgrad = d == DIRECTION_DGRAD, wgrad = d == DIRECTION_WGRAD;

	(void)shape;
	switch (slot) {
	case FW_GROUPED_OFFSETS:
		return SLOT_INPUT;
	case FW_GROUPED_X:
		return dgrad ? SLOT_UNUSED : SLOT_INPUT;
	case FW_GROUPED_W:
		return wgrad ? SLOT_UNUSED : SLOT_INPUT;
	case FW_GROUPED_DY:
		return forward ? SLOT_UNUSED : SLOT_INPUT;
	case FW_GROUPED_Y:
		return forward ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_GROUPED_DX:
		return dgrad ? SLOT_OUTPUT : SLOT_UNUSED;
	default:
		return wgrad ? SLOT_OUTPUT : SLOT_UNUSED;
	}
}

/* Offsets stay, because they determine the work; the second problem changes them. W rolls, so that no copy of it stays valid. */
enum slot_change grouped_change(const void *shape, enum direction d, int slot)
{
	(void)shape;
	if (slot == FW_GROUPED_OFFSETS)
		return SLOT_STAYS;
	return slot == (d == DIRECTION_FORWARD ? FW_GROUPED_X : FW_GROUPED_DY) ? SLOT_ROLLS_FIRST : SLOT_ROLLS;
}

size_t grouped_lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct grouped_case *a = shape;
	bool is_weight = slot == FW_GROUPED_W || slot == FW_GROUPED_DW, is_y = slot == FW_GROUPED_Y || slot == FW_GROUPED_DY;
	int64_t columns = is_y ? a->n : a->k, matrix = (int64_t)a->n * a->k;

	if (slot == FW_GROUPED_OFFSETS) {
		*t = (struct fw_tensor){ .stride = { 1, 0, 0 }, .dtype = FW_I32 };
		return ((size_t)a->groups + 1) * sizeof(int32_t);
	}
	*t = (struct fw_tensor){ .stride = { columns, 1, 0 }, .dtype = FW_BF16 };
	if (is_weight)
		*t = (struct fw_tensor){ .stride = { matrix, columns, 1 }, .dtype = FW_BF16 };
	return (size_t)(is_weight ? a->groups * matrix : a->rows * columns) * 2;
}

int grouped_lay(const void *shape, uint64_t seed, int slot, void *out, struct fw_err *err)
{
	const struct grouped_case *a = shape;
	int32_t sizes[FW_GROUPED_GROUPS_MAX], *offsets = out, used = 0;

	(void)slot;
	grouped_sizes(a, seed, sizes);
	offsets[0] = 0;
	for (int32_t g = 0; g < a->groups; g++) {
		offsets[g + 1] = offsets[g] + sizes[g];
		used += sizes[g] > 0;
	}
	if (used == a->used) /* the suite counted the work with it */
		return 0;
	return err_set(
		err, ERR_INVALID, "%d groups have rows with seed %llu, the case has %d", used, (unsigned long long)seed, a->used);
}

bool grouped_has_second(const void *shape)
{
	const struct grouped_case *a = shape;

	if (a->routing == GROUPED_BALANCED)
		return a->rows % a->groups != 0;
	if (a->routing != GROUPED_SIZES)
		return a->top_k < a->groups;
	for (int32_t g = 1; g < a->groups; g++)
		if (a->size[g] != a->size[0])
			return true;
	return false;
}

void grouped_second(void *shape, int attempt)
{
	struct grouped_case *a = shape;

	a->turned = attempt + 1;
}
