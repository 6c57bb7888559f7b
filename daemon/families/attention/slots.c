/* slots.c - buffers of attention: slots of each direction, their layout, and their changes between calls. */
#include <math.h>

#include "families/attention/attention.h"

#define SECOND_MASK_SEED 0x5ec0d3a5cULL

static bool is_query(int slot)
{
	return slot == FW_Q || slot == FW_O || slot == FW_DO || slot == FW_DQ;
}

enum slot_use attention_use(const void *shape, enum direction d, int slot)
{
	const struct attention_case *a = shape;
	bool forward = d == DIRECTION_FORWARD;

	switch (slot) {
	case FW_Q:
	case FW_K:
	case FW_V:
		return SLOT_INPUT;
	case FW_O:
	case FW_LSE:
		return forward ? SLOT_OUTPUT : SLOT_FORWARD;
	case FW_DO:
		return forward ? SLOT_UNUSED : SLOT_INPUT;
	case FW_DQ:
	case FW_DK:
	case FW_DV:
		return forward ? SLOT_UNUSED : SLOT_OUTPUT;
	case FW_CU_Q:
	case FW_CU_K:
		return a->n_seqs > 1 ? SLOT_INPUT : SLOT_UNUSED;
	case FW_BLOCK_BITS:
		return a->mask == FW_BLOCKS ? SLOT_INPUT : SLOT_UNUSED;
	default:
		return SLOT_UNUSED;
	}
}

/* K and V of backward must match its O and LSE, so changing them needs another forward. Q stays that of the forward. */
enum slot_change attention_change(const void *shape, enum direction d, int slot)
{
	(void)shape;
	if (slot == (d == DIRECTION_FORWARD ? FW_Q : FW_DO))
		return SLOT_ROLLS_FIRST;
	return slot == FW_K || slot == FW_V ? SLOT_ROLLS_FORWARD : SLOT_STAYS;
}

size_t attention_lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct attention_case *a = shape;
	int64_t row = (int64_t)(is_query(slot) ? a->nhq : a->nhk) * a->headdim;

	switch (slot) {
	case FW_LSE:
		*t = (struct fw_tensor){ .stride = { a->seqlen, 1, 0 }, .dtype = FW_F32 };
		return (size_t)a->nhq * (size_t)a->seqlen * 4;
	case FW_CU_Q:
	case FW_CU_K:
		*t = (struct fw_tensor){ .stride = { 1, 0, 0 }, .dtype = FW_I32 };
		return ((size_t)a->n_seqs + 1) * 4;
	case FW_BLOCK_BITS:
		row = (attention_key_blocks(a) + 31) / 32;
		*t = (struct fw_tensor){ .stride = { a->seqlen / a->block * row, row, 1 }, .dtype = FW_U32 };
		return (size_t)a->nhk * (size_t)(a->seqlen / a->block * row) * 4;
	default:
		*t = (struct fw_tensor){ .stride = { row, a->headdim, 1 }, .dtype = FW_BF16 };
		return (size_t)row * (size_t)a->seqlen * 2;
	}
}

void attention_lay(const void *shape, uint64_t seed, int slot, void *out)
{
	const struct attention_case *a = shape;
	int32_t *cu = out;

	if (slot == FW_BLOCK_BITS) {
		attention_block_bits(a, seed ^ a->mask_twist, out);
		return;
	}
	cu[0] = 0;
	for (int i = 0; i < a->n_seqs; i++)
		cu[i + 1] = cu[i] + a->length[i];
}

bool attention_has_second(const void *shape)
{
	const struct attention_case *a = shape;

	if (a->mask == FW_BLOCKS)
		return attention_kept_blocks(a) < attention_key_blocks(a);
	for (int i = 0; i < a->n_seqs; i++)
		if (a->length[i] != a->length[a->n_seqs - 1 - i])
			return true;
	return false;
}

/* Reverse the lengths, or draw other blocks. `attempt` changes the seed, because two seeds may give the same mask. */
void attention_second(void *shape, int attempt)
{
	struct attention_case *a = shape;

	if (a->mask == FW_BLOCKS) {
		a->mask_twist = SECOND_MASK_SEED + (uint64_t)attempt;
		return;
	}
	for (int i = 0; attempt == 0 && i < a->n_seqs / 2; i++) {
		int32_t other = a->length[a->n_seqs - 1 - i];

		a->length[a->n_seqs - 1 - i] = a->length[i];
		a->length[i] = other;
	}
}

int64_t attention_kept(const void *shape, const void *const *laid, int64_t *of)
{
	const struct attention_case *a = shape;
	const uint32_t *bits = laid[FW_BLOCK_BITS];
	struct fw_tensor t;
	int64_t kept = 0;

	*of = bits ? (int64_t)a->nhk * (a->seqlen / a->block) * attention_key_blocks(a) : 0;
	for (size_t i = 0; bits && i < attention_lay_out(a, FW_BLOCK_BITS, &t) / sizeof *bits; i++)
		kept += __builtin_popcount(bits[i]);
	return kept;
}

void attention_abi(const void *shape, enum direction d, void *out)
{
	const struct attention_case *a = shape;
	struct fw_attention sizes;
	int32_t longest = 0;

	(void)d;
	for (int i = 0; i < a->n_seqs; i++)
		if (a->length[i] > longest)
			longest = a->length[i];
	sizes = (struct fw_attention){
		.struct_size = sizeof sizes,
		.nhq = a->nhq,
		.nhk = a->nhk,
		.headdim = a->headdim,
		.headdim_v = a->headdim,
		.dtype = a->dtype,
		.mask = a->mask,
		.block_q = a->block,
		.block_k = attention_key_block(a),
		.total_q = a->seqlen,
		.total_k = a->seqlen,
		.n_seqs = a->n_seqs,
		.max_q = longest,
		.max_k = longest,
		.max_blocks = a->mask == FW_BLOCKS ? (int64_t)a->nhk * (a->seqlen / a->block) * attention_kept_blocks(a) : 0,
		.scale = 1 / sqrt(a->headdim),
	};
	memcpy(out, &sizes, sizeof sizes);
}
