/* Another algorithm: one pass over the keys with a running maximum, and scores computed once. */
#include <stdint.h>
struct fw_plan;
static void one_pass(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) one_pass(p, phases)
#include "good.c"

static void online_row(struct fw_plan *p, int head, int row)
{
	const struct fw_attention *a = &p->a;
	int kv_head = head / (a->nhq / a->nhk), d = a->headdim;
	struct sequence s = plan_sequence(p, row, false);
	float q[HEADDIM_MAX], o[HEADDIM_MAX] = { 0 }, top = -INFINITY, sum = 0;
	for (int i = 0; i < d; i++)
		q[i] = (float)a->scale * from_bf16(at(&p->slot[FW_Q], row, head)[i]);
	for (int key = s.k0; key < s.k1; key++) {
		if (!plan_sees(p, &s, kv_head, row, key))
			continue;
		const uint16_t *k = at(&p->slot[FW_K], key, kv_head), *v = at(&p->slot[FW_V], key, kv_head);
		float score = 0;
		for (int i = 0; i < d; i++)
			score += q[i] * from_bf16(k[i]);
		float weight = 1;
		if (score > top) { /* sums so far had a smaller maximum */
			float shrink = expf(top - score);
			sum *= shrink;
			for (int i = 0; i < d; i++)
				o[i] *= shrink;
			top = score;
		} else {
			weight = expf(score - top);
		}
		sum += weight;
		for (int i = 0; i < d; i++)
			o[i] += weight * from_bf16(v[i]);
	}
	for (int i = 0; i < d; i++)
		at(&p->slot[FW_O], row, head)[i] = to_bf16(sum > 0 ? o[i] / sum : 0);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = sum > 0 ? top + logf(sum) : -INFINITY;
}

static void one_pass(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			online_row(p, head, row);
}
