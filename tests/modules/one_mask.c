/* Reuses the block bits and offsets of its first call: wrong with a second mask of equal size on the same plan. */
#include <stdint.h>
#include <stddef.h>
struct fw_plan;
static void remember_mask(struct fw_plan *p);
#define BEFORE_ENQUEUE(p) remember_mask(p)
#include "good.c"

/* Plans hold their copies until the module is closed. */
struct copy {
	struct copy *next;
	max_align_t data[];
};
static struct copy *copies;

static void *copy_of(const void *data, size_t bytes)
{
	struct copy *copy = data ? malloc(sizeof *copy + bytes) : NULL;
	if (!copy)
		return NULL;
	copy->next = copies;
	copies = copy;
	return memcpy(copy->data, data, bytes);
}

__attribute__((destructor)) static void free_copies(void)
{
	while (copies) {
		struct copy *next = copies->next;
		free(copies);
		copies = next;
	}
}

static void remember_mask(struct fw_plan *p)
{
	static struct {
		const struct fw_plan *plan;
		void *cu_q, *cu_k, *bits;
	} first;
	const struct fw_attention *a = &p->a;
	if (first.plan != p || p->calls == 0) {
		size_t cu_bytes = ((size_t)a->n_seqs + 1) * sizeof(int32_t), bits_bytes = 0;
		if (a->mask == FW_BLOCKS)
			bits_bytes = (size_t)a->nhk * (size_t)((a->total_q + a->block_q - 1) / a->block_q) *
				     (size_t)(((a->total_k + a->block_k - 1) / a->block_k + 31) / 32) * sizeof(uint32_t);
		first.plan = p;
		first.cu_q = copy_of(p->slot[FW_CU_Q].data, cu_bytes);
		first.cu_k = copy_of(p->slot[FW_CU_K].data, cu_bytes);
		first.bits = bits_bytes ? copy_of(p->slot[FW_BLOCK_BITS].data, bits_bytes) : NULL;
	}
	p->slot[FW_CU_Q].data = first.cu_q;
	p->slot[FW_CU_K].data = first.cu_k;
	p->slot[FW_BLOCK_BITS].data = first.bits;
}
