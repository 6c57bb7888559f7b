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
	bool forward = d == DIRECTION_FORWARD, total = d == DIRECTION_TOTAL;

	switch (slot) {
	case FW_Q:
	case FW_K:
	case FW_V:
		return SLOT_INPUT;
	case FW_O:
	case FW_LSE:
		return forward || total ? SLOT_OUTPUT : SLOT_FORWARD;
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
	case FW_TOKEN_BITS:
		return a->mask == FW_TOKENS ? SLOT_INPUT : SLOT_UNUSED;
	case FW_PAGES:
		return a->page ? SLOT_INPUT : SLOT_UNUSED;
	default:
		return SLOT_UNUSED;
	}
}

/*
 * K and V of backward must match its O and LSE, so changing them needs another forward. Q stays that of the forward. A total
 * computes its own O and LSE.
 */
enum slot_change attention_change(const void *shape, enum direction d, int slot)
{
	(void)shape;
	if (slot == (d == DIRECTION_BACKWARD ? FW_DO : FW_Q))
		return SLOT_ROLLS_FIRST;
	if (slot == FW_DO && d == DIRECTION_TOTAL)
		return SLOT_ROLLS;
	return slot == FW_K || slot == FW_V ? SLOT_ROLLS_FORWARD : SLOT_STAYS;
}

size_t attention_lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct attention_case *a = shape;
	int64_t row = (int64_t)(is_query(slot) ? a->nhq : a->nhk) * a->headdim;
	int32_t total_q = attention_total_q(a);

	switch (slot) {
	case FW_LSE:
		*t = (struct fw_tensor){ .stride = { total_q, 1, 0 }, .dtype = FW_F32 };
		return (size_t)a->nhq * (size_t)total_q * 4;
	case FW_CU_Q:
	case FW_CU_K:
		*t = (struct fw_tensor){ .stride = { 1, 0, 0 }, .dtype = FW_I32 };
		return ((size_t)a->n_seqs + 1) * 4;
	case FW_BLOCK_BITS:
		row = (attention_key_blocks(a) + 31) / 32;
		*t = (struct fw_tensor){ .stride = { a->seqlen / a->block * row, row, 1 }, .dtype = FW_U32 };
		return (size_t)a->nhk * (size_t)(a->seqlen / a->block * row) * 4;
	case FW_TOKEN_BITS:
		row = attention_token_words(a);
		*t = (struct fw_tensor){ .stride = { a->seqlen * row, row, 1 }, .dtype = FW_U32 };
		return (size_t)a->nhq * (size_t)a->seqlen * (size_t)row * 4;
	case FW_PAGES:
		row = attention_page_entries(a);
		*t = (struct fw_tensor){ .stride = { row, 1, 0 }, .dtype = FW_I32 };
		return (size_t)a->n_seqs * (size_t)row * 4;
	default:
		*t = (struct fw_tensor){ .stride = { row, a->headdim, 1 }, .dtype = a->dtype };
		return (size_t)row * (size_t)(is_query(slot) ? total_q : attention_key_rows(a)) * 2;
	}
}

/* Whether a token mask is the one of the suite: its work was counted there. */
static int check_pairs(const struct attention_case *a, const uint32_t *bits, struct fw_err *err)
{
	const void *const laid[FW_ATTENTION_SLOTS] = { [FW_TOKEN_BITS] = bits };
	int64_t of, kept = attention_kept(a, laid, &of);

	if (a->mask_twist || kept == a->pairs_kept)
		return 0;
	return err_set(err, ERR_INVALID, "the token mask has %lld active pairs, its case has %lld", (long long)kept,
		(long long)a->pairs_kept);
}

int attention_lay(const void *shape, uint64_t seed, int slot, void *out, struct fw_err *err)
{
	const struct attention_case *a = shape;
	int32_t *cu = out;

	if (slot == FW_BLOCK_BITS) {
		attention_block_bits(a, seed ^ a->mask_twist, out);
		return 0;
	}
	if (slot == FW_TOKEN_BITS)
		return attention_token_bits(a, seed, out, err) == 0 ? check_pairs(a, out, err) : -1;
	if (slot == FW_PAGES) {
		attention_page_table(a, seed, out);
		return 0;
	}
	cu[0] = 0;
	for (int i = 0; i < a->n_seqs; i++)
		cu[i + 1] = cu[i] + (slot == FW_CU_Q ? attention_queries(a, i) : a->length[i]);
	return 0;
}

bool attention_has_second(const void *shape)
{
	const struct attention_case *a = shape;

	if (a->mask == FW_BLOCKS)
		return attention_kept_blocks(a) < attention_key_blocks(a);
	if (a->mask == FW_TOKENS)
		return a->pairs_kept > 0 && a->pairs_kept < attention_pairs(a);
	for (int i = 0; i < a->n_seqs; i++)
		if (a->length[i] != a->length[a->n_seqs - 1 - i])
			return true;
	return attention_pages(a) > 1;
}

/*
 * Reverse the lengths, draw other blocks, pairs or pages, or move a mask that is not drawn. `attempt` changes the seed or the
 * distance, because two of them may give the same mask.
 */
void attention_second(void *shape, int attempt)
{
	struct attention_case *a = shape;

	if (a->mask == FW_BLOCKS) {
		a->mask_twist = SECOND_MASK_SEED + (uint64_t)attempt;
		return;
	}
	if (a->mask == FW_TOKENS) {
		a->mask_twist = (a->source == TOKENS_RANDOM ? SECOND_MASK_SEED : 1) + (uint64_t)attempt;
		return;
	}
	if (a->page)
		a->mask_twist = SECOND_MASK_SEED + (uint64_t)attempt;
	for (int i = 0; attempt == 0 && i < a->n_seqs / 2; i++) {
		int32_t other = a->length[a->n_seqs - 1 - i];

		a->length[a->n_seqs - 1 - i] = a->length[i];
		a->length[i] = other;
	}
}

int64_t attention_kept(const void *shape, const void *const *laid, int64_t *of)
{
	const struct attention_case *a = shape;
	int slot = a->mask == FW_TOKENS ? FW_TOKEN_BITS : FW_BLOCK_BITS;
	const uint32_t *bits = laid[slot];
	struct fw_tensor t;
	int64_t kept = 0;

	*of = !bits                  ? 0
	      : a->mask == FW_TOKENS ? attention_pairs(a)
				     : (int64_t)a->nhk * (a->seqlen / a->block) * attention_key_blocks(a);
	for (size_t i = 0; bits && i < attention_lay_out(a, slot, &t) / sizeof *bits; i++)
		kept += __builtin_popcount(bits[i]);
	return kept;
}

void attention_abi(const void *shape, enum direction d, void *out)
{
	const struct attention_case *a = shape;
	struct fw_attention sizes;

	(void)d;
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
		.total_q = attention_total_q(a),
		.total_k = a->seqlen,
		.n_seqs = a->n_seqs,
		.max_q = a->queries ? a->queries : attention_longest(a),
		.max_k = attention_longest(a),
		.max_blocks = a->mask == FW_BLOCKS ? (int64_t)a->nhk * (a->seqlen / a->block) * attention_kept_blocks(a) : 0,
		.scale = 1 / sqrt(a->headdim),
		.window = a->window,
		.page = a->page,
		.n_pages = attention_pages(a),
	};
	memcpy(out, &sizes, sizeof sizes);
}
