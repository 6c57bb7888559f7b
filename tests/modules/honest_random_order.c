/* Another order of rows in every call, drawn from the system's random numbers, and sums in an order that changes with it. */
#include <stdint.h>
#include <sys/random.h>
struct fw_plan;
static void shuffle(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) shuffle(p, phases)
#include "good.c"

static void row_from_key(struct fw_plan *p, int head, int row, int first)
{
	const struct fw_attention *a = &p->a;
	int n = a->total_k, d = a->headdim, kv_head = head / (a->nhq / a->nhk);
	float top = -INFINITY, sum = 0, o[HEADDIM_MAX] = { 0 };
	for (int i = 0; i < n; i++)
		top = fmaxf(top, (float)a->scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], i, kv_head), d));
	for (int i = 0; i < n; i++) {
		int key = (first + i) % n;
		float weight =
			expf((float)a->scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], key, kv_head), d) - top);
		sum += weight;
		for (int j = 0; j < d; j++)
			o[j] += weight * from_bf16(at(&p->slot[FW_V], key, kv_head)[j]);
	}
	for (int j = 0; j < d; j++)
		at(&p->slot[FW_O], row, head)[j] = to_bf16(o[j] / sum);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = top + logf(sum);
}

static void shuffle(struct fw_plan *p, uint32_t phases)
{
	uint16_t first = 0;
	if (p->direction != FW_FORWARD || p->a.mask != FW_FULL || p->a.n_seqs > 1 ||
		getrandom(&first, sizeof first, 0) != sizeof first) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			row_from_key(p, head, (row + first) % p->a.total_q, first % p->a.total_k);
}
