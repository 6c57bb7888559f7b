/* A backward that uses neither LSE nor O: it computes its own softmax, and delta as rowsum(P * dP). */
#include <stdint.h>
struct fw_plan;
static void from_scratch(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) from_scratch(p, phases)
#include "good.c"

static float row_lse(const struct fw_plan *p, int head, int row)
{
	int kv_head = head / (p->a.nhq / p->a.nhk);
	struct sequence s = plan_sequence(p, row, false);
	double sum = 0;
	for (int key = s.k0; key < s.k1; key++)
		if (plan_sees(p, &s, kv_head, row, key))
			sum += exp(p->a.scale *
				   (double)dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], key, kv_head), p->a.headdim));
	return sum > 0 ? (float)log(sum) : -INFINITY;
}

static float row_delta(const struct fw_plan *p, int head, int row, float lse)
{
	int kv_head = head / (p->a.nhq / p->a.nhk), d = p->a.headdim;
	struct sequence s = plan_sequence(p, row, false);
	float delta = 0;
	for (int key = s.k0; key < s.k1; key++)
		if (plan_sees(p, &s, kv_head, row, key))
			delta +=
				expf((float)p->a.scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], key, kv_head), d) -
					lse) *
				dot(at(&p->slot[FW_DO], row, head), at(&p->slot[FW_V], key, kv_head), d);
	return delta;
}

static void from_scratch(struct fw_plan *p, uint32_t phases)
{
	const struct fw_attention *a = &p->a;
	struct fw_tensor given = p->slot[FW_LSE];
	float *lse = malloc(sizeof *lse * (size_t)a->nhq * (size_t)a->total_q);
	if (p->direction != FW_BACKWARD || !lse) {
		run(p, phases);
		free(lse);
		return;
	}
	for (int head = 0; head < a->nhq; head++)
		for (int row = 0; row < a->total_q; row++) {
			int64_t i = (int64_t)head * a->total_q + row;
			lse[i] = row_lse(p, head, row);
			p->delta[i] = row_delta(p, head, row, lse[i]);
		}
	p->slot[FW_LSE].data = lse;
	run(p, phases & ~(uint32_t)FW_PREPROCESS);
	p->slot[FW_LSE] = given;
	free(lse);
}
