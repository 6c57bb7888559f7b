/*
 * Converts sequence offsets and block bits to lists of tiles and ranges. Every later phase traverses these lists and never reads
 * a mask, so that its cost follows the set blocks.
 */
#include "attention/cpu/lists.h"
#include "attention/cpu/tile.h"

#include <limits.h>

static int32_t ceil_div(int32_t a, int32_t b)
{
	return (a + b - 1) / b;
}

static int32_t min32(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

void lists_room(const struct fw_attention *a, int keys, int32_t *max_items, int32_t *max_ranges)
{
	int32_t tile = keys ? TILE_K : TILE_Q, total = keys ? a->total_k : a->total_q;
	int64_t items, ranges;
	if (a->mask == FW_BLOCKS) {
		int32_t block = keys ? a->block_k : a->block_q;
		int64_t blocks = (int64_t)a->nhk * ceil_div(total, block);
		items = blocks * ceil_div(block, tile);
		ranges = a->max_blocks;
	} else {
		items = (int64_t)a->nhk * (total / tile + a->n_seqs);
		ranges = items;
	}
	*max_items = items > INT_MAX ? INT_MAX : (int32_t)items;
	*max_ranges = ranges > INT_MAX ? INT_MAX : (int32_t)ranges;
}

/* Tiles of tokens [first, end) that all visit the `ranges` ranges from `range_first` on. */
static int add_items(
	struct list *l, int32_t kv_head, int32_t first, int32_t end, int32_t tile, int32_t range_first, int32_t diagonal)
{
	for (; first < end; first += tile) {
		if (l->n_items == l->max_items)
			return -1;
		l->item[l->n_items++] = (struct item){ kv_head, first, min32(tile, end - first), range_first,
			l->n_ranges - range_first, diagonal };
	}
	return 0;
}

static int kept(const uint32_t *row, int32_t block)
{
	return row[block / 32] >> (block % 32) & 1u;
}

static int build_blocks(const struct fw_attention *a, const uint32_t *bits, int keys, struct list *l)
{
	int32_t q_blocks = ceil_div(a->total_q, a->block_q), k_blocks = ceil_div(a->total_k, a->block_k);
	int32_t words = ceil_div(k_blocks, 32);
	int32_t outer_blocks = keys ? k_blocks : q_blocks, inner_blocks = keys ? q_blocks : k_blocks;
	int32_t outer_block = keys ? a->block_k : a->block_q, inner_block = keys ? a->block_q : a->block_k;
	int32_t outer_total = keys ? a->total_k : a->total_q, inner_total = keys ? a->total_q : a->total_k;

	for (int32_t head = 0; head < a->nhk; head++) {
		const uint32_t *head_bits = bits + (int64_t)head * q_blocks * words;
		for (int32_t outer = 0; outer < outer_blocks; outer++) {
			int32_t range_first = l->n_ranges, end_of_last = -1;
			for (int32_t inner = 0; inner < inner_blocks; inner++) {
				int32_t q_block = keys ? inner : outer, k_block = keys ? outer : inner;
				if (!kept(head_bits + (int64_t)q_block * words, k_block))
					continue;
				int32_t begin = inner * inner_block, end = min32(begin + inner_block, inner_total);
				if (end_of_last == begin) {
					l->range[l->n_ranges - 1].end = end;
				} else {
					if (l->n_ranges == l->max_ranges)
						return -1;
					l->range[l->n_ranges++] = (struct range){ begin, end };
				}
				end_of_last = end;
			}
			int32_t first = outer * outer_block, end = min32(first + outer_block, outer_total);
			if (add_items(l, head, first, end, keys ? TILE_K : TILE_Q, range_first, NO_DIAGONAL))
				return -1;
		}
	}
	return 0;
}

/* Tiles of one sequence for every head. Causal tiles stop at the diagonal. */
static int build_sequence(const struct fw_attention *a, struct range q, struct range k, int keys, struct list *l)
{
	int32_t tile = keys ? TILE_K : TILE_Q;
	int32_t diagonal = a->mask == FW_CAUSAL ? k.end - q.end + 1 : NO_DIAGONAL;
	struct range outer = keys ? k : q;

	for (int32_t head = 0; head < a->nhk; head++) {
		for (int32_t first = outer.begin; first < outer.end; first += tile) {
			int32_t end = min32(first + tile, outer.end), range_first = l->n_ranges;
			struct range seen = keys ? q : k;
			if (a->mask == FW_CAUSAL && keys && first - diagonal + 1 > seen.begin)
				seen.begin = first - diagonal + 1;
			if (a->mask == FW_CAUSAL && !keys && end - 1 + diagonal < seen.end)
				seen.end = end - 1 + diagonal;
			if (seen.begin < seen.end) {
				if (l->n_ranges == l->max_ranges)
					return -1;
				l->range[l->n_ranges++] = seen;
			}
			if (add_items(l, head, first, end, tile, range_first, diagonal))
				return -1;
		}
	}
	return 0;
}

int lists_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, int keys, struct list *l)
{
	l->n_items = l->n_ranges = 0;
	if (a->mask == FW_BLOCKS)
		return build_blocks(a, bits, keys, l);
	if (a->n_seqs == 1)
		return build_sequence(a, (struct range){ 0, a->total_q }, (struct range){ 0, a->total_k }, keys, l);
	if (cu_q[0] != 0 || cu_k[0] != 0 || cu_q[a->n_seqs] != a->total_q || cu_k[a->n_seqs] != a->total_k)
		return -1;
	for (int32_t i = 0; i < a->n_seqs; i++) {
		if (cu_q[i + 1] < cu_q[i] || cu_k[i + 1] < cu_k[i])
			return -1;
		if (build_sequence(a, (struct range){ cu_q[i], cu_q[i + 1] }, (struct range){ cu_k[i], cu_k[i + 1] }, keys, l))
			return -1;
	}
	return 0;
}
