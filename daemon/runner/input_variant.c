/* input_variant.c - two master copies for each rolled tensor, one for others. */
#include "runner/internal.h"

/* Steps of a row are aligned if there are enough of them; otherwise inputs would repeat too soon. */
enum { STEP_ELEMENTS = 8, STEPS_FEW = 16 };

static bool is_input(const struct problem *p, int slot)
{
	return p->slot[slot].use == SLOT_INPUT || p->slot[slot].use == SLOT_FORWARD;
}

enum slot_change variant_change(const struct problem *p, int slot)
{
	const void *shape = p->cell.shape.bytes;

	if (p->slot[slot].use == SLOT_INPUT)
		return p->family->change(shape, p->cell.direction, slot);
	if (!p->slot[slot].is_forwards)
		return SLOT_STAYS;
	return p->family->change(shape, DIRECTION_FORWARD, slot) == SLOT_STAYS ? SLOT_STAYS : SLOT_ROLLS_FORWARD;
}

size_t variant_step(const struct problem *p, int slot)
{
	size_t element = family_element_bytes(p->tensor[slot].dtype), row = (size_t)p->tensor[slot].stride[0] * element;
	size_t bytes = p->slot[slot].bytes, wide = STEP_ELEMENTS * element;

	if (bytes / row >= STEPS_FEW)
		return row;
	return bytes % wide == 0 && bytes / wide >= STEPS_FEW ? wide : element;
}

size_t variant_shifts(const struct problem *p, int slot)
{
	size_t row = (size_t)p->tensor[slot].stride[0] * family_element_bytes(p->tensor[slot].dtype);

	return variant_step(p, slot) == row && p->slot[slot].bytes > row && row % VARIANT_SHIFT_BYTES == 0
		       ? row / VARIANT_SHIFT_BYTES
		       : 1;
}

int variant_slot(struct problem *p, int slot, const struct input_variant *a, struct fw_err *err)
{
	const struct problem_slot *s = &p->slot[slot];
	const char *from = a->second && s->second ? s->second : s->master;
	size_t ahead = (a->roll[slot] ? (size_t)a->roll[slot] * variant_step(p, slot) : 0) + a->shift[slot];

	if (p->ops->copy(p->dev, s->data, from + ahead, s->bytes - ahead, err) != 0)
		return -1;
	return ahead ? p->ops->copy(p->dev, (char *)s->data + s->bytes - ahead, from, ahead, err) : 0;
}

int variant_inputs(struct problem *p, const struct input_variant *a, struct fw_err *err)
{
	for (int i = 0; i < p->family->n_slots; i++)
		if (is_input(p, i) && variant_slot(p, i, a, err) != 0)
			return -1;
	p->now = *a;
	return 0;
}

int variant_sum(struct problem *p, struct input_variant *a, struct fw_err *err)
{
	if (variant_inputs(p, a, err) != 0)
		return -1;
	for (int i = 0; i < p->family->n_slots; i++)
		if (is_input(p, i) && p->ops->checksum(p->dev, p->slot[i].data, p->slot[i].bytes, &a->sum[i], err) != 0)
			return -1;
	p->now = *a;
	return 0;
}

int variant_add_second(struct problem *p, const struct input_variant *rolled, struct fw_err *err)
{
	bool has_memory = true;

	for (int i = 0; has_memory && i < p->family->n_slots; i++)
		has_memory =
			p->slot[i].use != SLOT_FORWARD || p->ops->alloc(p->dev, p->slot[i].bytes, &p->slot[i].second, err) == 0;
	for (int i = 0; !has_memory && i < p->family->n_slots; i++) {
		p->ops->release(p->dev, p->slot[i].second);
		p->slot[i].second = NULL;
	}
	if (!has_memory)
		return -1;
	p->second = (struct input_variant){ .second = true };
	memcpy(p->second.roll, rolled->roll, sizeof rolled->roll);
	memcpy(p->second.shift, rolled->shift, sizeof rolled->shift);
	p->varied = true;
	return 0;
}
