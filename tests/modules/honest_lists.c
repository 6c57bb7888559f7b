/* Caches lists of the keys that each row of blocks attends to, as long as the mask is the same, byte for byte. */
#include <stdint.h>
struct fw_plan;
static void by_lists(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) by_lists(p, phases)
#include "good.c"

static struct {
	const struct fw_plan *of;
	void *mask;
	size_t bytes;
	int *list, *n; /* [heads][rows][keys], [heads][rows] */
} kept;

static size_t mask_bytes(const struct fw_plan *p)
{
	const struct fw_attention *a = &p->a;
	int64_t q_blocks = a->mask == FW_BLOCKS ? (a->total_q + a->block_q - 1) / a->block_q : 0;
	int64_t words = a->mask == FW_BLOCKS ? ((a->total_k + a->block_k - 1) / a->block_k + 31) / 32 : 0;
	return (size_t)(a->nhk * q_blocks * words * 4) + (p->slot[FW_CU_Q].data ? ((size_t)a->n_seqs + 1) * 8 : 0);
}

static void copy_mask(const struct fw_plan *p, char *out)
{
	size_t cu = p->slot[FW_CU_Q].data ? ((size_t)p->a.n_seqs + 1) * 4 : 0;
	if (cu) {
		memcpy(out, p->slot[FW_CU_Q].data, cu);
		memcpy(out + cu, p->slot[FW_CU_K].data, cu);
	}
	if (p->a.mask == FW_BLOCKS)
		memcpy(out + 2 * cu, p->slot[FW_BLOCK_BITS].data, mask_bytes(p) - 2 * cu);
}

static void make_lists(const struct fw_plan *p)
{
	const struct fw_attention *a = &p->a;
	size_t rows = (size_t)a->nhk * (size_t)a->total_q;
	kept.list = realloc(kept.list, sizeof(int) * rows * (size_t)a->total_k);
	kept.n = realloc(kept.n, sizeof(int) * rows);
	for (int head = 0; head < a->nhk; head++)
		for (int row = 0; row < a->total_q; row++) {
			size_t at = (size_t)head * (size_t)a->total_q + (size_t)row;
			struct sequence s = plan_sequence(p, row, false);
			kept.n[at] = 0;
			for (int key = s.k0; key < s.k1; key++)
				if (plan_sees(p, &s, head, row, key))
					kept.list[at * (size_t)a->total_k + (size_t)kept.n[at]++] = key;
		}
}

static void row_by_list(struct fw_plan *p, int head, int row)
{
	const struct fw_attention *a = &p->a;
	int kv_head = head / (a->nhq / a->nhk), d = a->headdim;
	size_t at_list = (size_t)kv_head * (size_t)a->total_q + (size_t)row;
	const int *list = kept.list + at_list * (size_t)a->total_k;
	float top = -INFINITY, sum = 0, o[HEADDIM_MAX] = { 0 };
	for (int i = 0; i < kept.n[at_list]; i++)
		top = fmaxf(top, (float)a->scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], list[i], kv_head), d));
	for (int i = 0; i < kept.n[at_list]; i++) {
		const uint16_t *v = at(&p->slot[FW_V], list[i], kv_head);
		float weight =
			expf((float)a->scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], list[i], kv_head), d) - top);
		sum += weight;
		for (int j = 0; j < d; j++)
			o[j] += weight * from_bf16(v[j]);
	}
	for (int j = 0; j < d; j++)
		at(&p->slot[FW_O], row, head)[j] = to_bf16(sum > 0 ? o[j] / sum : 0);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = sum > 0 ? top + logf(sum) : -INFINITY;
}

static void by_lists(struct fw_plan *p, uint32_t phases)
{
	size_t bytes = mask_bytes(p);
	char *now = malloc(bytes + 1);
	if (p->direction != FW_FORWARD || !now) {
		run(p, phases);
		free(now);
		return;
	}
	copy_mask(p, now);
	if (kept.of != p || kept.bytes != bytes || p->calls == 0 || memcmp(kept.mask, now, bytes) != 0) {
		make_lists(p);
		free(kept.mask);
		kept.mask = now;
		kept.bytes = bytes;
		kept.of = p;
	} else {
		free(now);
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			row_by_list(p, head, row);
}
