/* counts.c - masks counted in tokens and in tiles of MASK_TILE tokens. */
#include "families/attention/attention.h"

#include <stdlib.h>

/* A mask's bits: rows of `block_q` queries, bits of `block_k` keys. A token mask has blocks of one token. */
struct counted {
	const uint32_t *bits;
	int64_t heads, seqlen, tokens; /* tokens of a sequence */
	int64_t block_q, block_k, words;
};

static const uint32_t *row_bits(const struct counted *m, int64_t head, int64_t row)
{
	return m->bits + (head * (m->seqlen / m->block_q) + row / m->block_q) * m->words;
}

/* Whether any bit of [first, end) is set. */
static bool any_bit(const uint32_t *bits, int64_t first, int64_t end)
{
	while (first < end) {
		int64_t here = 32 - first % 32 < end - first ? 32 - first % 32 : end - first;
		uint32_t word = bits[first / 32] >> (first % 32);

		if (here < 32 ? word & ((UINT32_C(1) << here) - 1) : word)
			return true;
		first += here;
	}
	return false;
}

static void count_rows(const struct counted *m, struct mask_counts *out)
{
	for (int64_t head = 0; head < m->heads; head++)
		for (int64_t row = 0; row < m->seqlen; row += m->block_q) {
			const uint32_t *bits = row_bits(m, head, row);
			int64_t kept = 0;

			for (int64_t i = 0; i < m->words; i++)
				kept += __builtin_popcount(bits[i]);
			out->pairs_kept += kept * m->block_k * m->block_q;
			out->rows_empty += kept == 0 ? m->block_q : 0;
		}
	out->rows = m->heads * m->seqlen;
	out->pairs = out->rows * m->tokens;
}

/* Whether a pair of the tile is kept: queries from `row`, keys from `key` of their sequence. */
static bool is_tile_kept(const struct counted *m, int64_t head, int64_t row, int64_t key)
{
	int64_t from = row % m->tokens, rows = m->tokens - from < MASK_TILE ? m->tokens - from : MASK_TILE;
	int64_t end = key + MASK_TILE < m->tokens ? key + MASK_TILE : m->tokens;

	for (int64_t at = row; at < row + rows; at += m->block_q - at % m->block_q)
		if (any_bit(row_bits(m, head, at), key / m->block_k, (end - 1) / m->block_k + 1))
			return true;
	return false;
}

/* Shape: common[tiles of a sequence][tiles of a sequence], whether any head and sequence keeps a pair there. */
static void count_tiles(const struct counted *m, bool *common, struct mask_counts *out)
{
	int64_t side = (m->tokens + MASK_TILE - 1) / MASK_TILE;

	for (int64_t head = 0; head < m->heads; head++)
		for (int64_t first = 0; first < m->seqlen; first += m->tokens)
			for (int64_t row = 0; row < m->tokens; row += MASK_TILE)
				for (int64_t key = 0; key < m->tokens; key += MASK_TILE) {
					bool kept = is_tile_kept(m, head, first + row, key);

					out->tiles++;
					out->tiles_masked += !kept;
					if (kept && common)
						common[row / MASK_TILE * side + key / MASK_TILE] = true;
				}
	if (!common || m->heads * (m->seqlen / m->tokens) == 1)
		return;
	out->common_tiles = side * side;
	for (int64_t i = 0; i < side * side; i++)
		out->common_masked += !common[i];
}

void attention_count_mask(const void *shape, const void *const *laid, struct mask_counts *out)
{
	const struct attention_case *a = shape;
	struct counted m = { .seqlen = a->seqlen, .tokens = a->seqlen };

	if (a->mask == FW_BLOCKS) {
		m.bits = laid[FW_BLOCK_BITS];
		m.heads = a->nhk;
		m.block_q = a->block;
		m.block_k = attention_key_block(a);
		m.words = (attention_key_blocks(a) + 31) / 32;
	} else if (a->mask == FW_TOKENS) {
		m.bits = laid[FW_TOKEN_BITS];
		m.heads = a->nhq;
		m.tokens = attention_tokens(a);
		m.block_q = m.block_k = 1;
		m.words = attention_token_words(a);
	}
	if (!m.bits)
		return;
	int64_t side = (m.tokens + MASK_TILE - 1) / MASK_TILE;
	bool *common = calloc((size_t)(side * side), sizeof *common);

	count_rows(&m, out);
	count_tiles(&m, common, out);
	free(common);
}
