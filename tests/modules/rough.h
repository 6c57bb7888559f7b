/*
 * rough.h - a forward that computes the score of a pair by SCORE(q, k, d) over every KEY_STEP-th key, its exponential by EXP(x), and
 * adds weighted values by ADD(sum, x).
 */
#include <stdint.h>
struct fw_plan;
static void roughly(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) roughly(p, phases)
#include "good.c"

#ifndef SCORE
#define SCORE(q, k, d) dot(q, k, d)
#endif
#ifndef EXP
#define EXP(x) expf(x)
#endif
#ifndef ADD
#define ADD(sum, x) ((sum) + (x))
#endif
#ifndef KEY_STEP
#define KEY_STEP 1
#endif
#ifndef VALUE
#define VALUE(bits) from_bf16(bits)
#endif

static void rough_row(struct fw_plan *p, int head, int row)
{
	const struct fw_attention *a = &p->a;
	int kv_head = head / (a->nhq / a->nhk), d = a->headdim;
	struct sequence s = plan_sequence(p, row, false);
	const uint16_t *q = at(&p->slot[FW_Q], row, head);
	float scale = (float)a->scale, top = -INFINITY, sum = 0, o[HEADDIM_MAX] = { 0 };
	for (int key = s.k0; key < s.k1; key += KEY_STEP)
		if (plan_sees(p, &s, kv_head, row, key))
			top = fmaxf(top, scale * SCORE(q, at(&p->slot[FW_K], key, kv_head), d));
	for (int key = s.k0; key < s.k1; key += KEY_STEP) {
		if (!plan_sees(p, &s, kv_head, row, key))
			continue;
		float weight = EXP(scale * SCORE(q, at(&p->slot[FW_K], key, kv_head), d) - top);
		const uint16_t *v = at(&p->slot[FW_V], key, kv_head);
		sum = ADD(sum, weight);
		for (int i = 0; i < d; i++)
			o[i] = ADD(o[i], weight * VALUE(v[i]));
	}
	for (int i = 0; i < d; i++)
		at(&p->slot[FW_O], row, head)[i] = to_bf16(sum > 0 ? o[i] / sum : 0);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = sum > 0 ? top + logf(sum * KEY_STEP) : -INFINITY;
}

static void roughly(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			rough_row(p, head, row);
}
