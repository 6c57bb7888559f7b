/* arrange.c - two copies for each rolled tensor, one for the others. */
#include "runner/call/arrange.h"

#include "runner/call/problem.h"

int arrange_slot(struct problem *p, int slot, const struct arrangement *a, struct fw_err *err)
{
	const struct problem_slot *s = &p->slot[slot];
	const char *from = a->second && s->second ? s->second : s->master;
	size_t ahead = (size_t)a->roll[slot] * (size_t)p->tensor[slot].stride[0] * sizeof(uint16_t);

	if (p->ops->copy(p->dev, s->data, from + ahead, s->bytes - ahead, err) != 0)
		return -1;
	return ahead ? p->ops->copy(p->dev, (char *)s->data + s->bytes - ahead, from, ahead, err) : 0;
}

int arrange_inputs(struct problem *p, const struct arrangement *a, struct fw_err *err)
{
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++)
		if (p->slot[i].use == PROBLEM_INPUT && arrange_slot(p, i, a, err) != 0)
			return -1;
	p->now = *a;
	return 0;
}

int arrange_sum(struct problem *p, struct arrangement *a, struct fw_err *err)
{
	if (arrange_inputs(p, a, err) != 0)
		return -1;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++)
		if (p->slot[i].use == PROBLEM_INPUT &&
			p->ops->checksum(p->dev, p->slot[i].data, p->slot[i].bytes, &a->sum[i], err) != 0)
			return -1;
	p->now = *a;
	return 0;
}

int arrange_vary(struct problem *p, int32_t roll_k, int32_t roll_v, struct fw_err *err)
{
	struct problem_slot *o = &p->slot[FW_O], *lse = &p->slot[FW_LSE];

	if (p->ops->alloc(p->dev, o->bytes, &o->second, err) != 0 || p->ops->alloc(p->dev, lse->bytes, &lse->second, err) != 0) {
		p->ops->release(p->dev, o->second);
		o->second = NULL;
		return -1;
	}
	p->second = (struct arrangement){ .second = true };
	p->second.roll[FW_K] = roll_k;
	p->second.roll[FW_V] = roll_v;
	p->varied = true;
	return 0;
}
