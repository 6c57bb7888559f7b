/* Sums in double precision, with values from copies that are aligned to huge pages. */
#include <stdint.h>
#include <sys/mman.h>
struct fw_plan;
static void exactly(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) exactly(p, phases)
#include "good.c"

static float *widen(const struct fw_plan *p, int slot)
{
	static float *wide;
	enum { HUGE = 2 << 20 };
	size_t n = (size_t)p->a.total_k * (size_t)p->slot[slot].stride[0];
	if (!wide && n * sizeof *wide <= HUGE && posix_memalign((void **)&wide, HUGE, HUGE) == 0)
		madvise(wide, HUGE, MADV_HUGEPAGE);
	for (size_t i = 0; wide && i < n; i++)
		wide[i] = from_bf16(((const uint16_t *)p->slot[slot].data)[i]);
	return wide;
}

static void exact_row(struct fw_plan *p, int head, int row, const float *v)
{
	const struct fw_attention *a = &p->a;
	int d = a->headdim, kv_head = head / (a->nhq / a->nhk);
	double sum = 0, o[HEADDIM_MAX] = { 0 };
	for (int key = 0; key < a->total_k; key++) {
		double weight = exp(a->scale * (double)dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], key, kv_head), d));
		sum += weight;
		for (int i = 0; i < d; i++)
			o[i] += weight * (double)v[key * p->slot[FW_V].stride[0] + kv_head * p->slot[FW_V].stride[1] + i];
	}
	for (int i = 0; i < d; i++)
		at(&p->slot[FW_O], row, head)[i] = to_bf16((float)(o[i] / sum));
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = (float)log(sum);
}

static void exactly(struct fw_plan *p, uint32_t phases)
{
	bool simple = p->direction == FW_FORWARD && p->a.mask == FW_FULL && p->a.n_seqs == 1;
	const float *v = simple ? widen(p, FW_V) : NULL;
	if (!v) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			exact_row(p, head, row, v);
}
