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

void lists_capacity(const struct fw_attention *a, int keys, int32_t *max_items, int32_t *max_ranges)
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
		l->item[l->n_items++] = (struct item){ .kv_head = kv_head,
			.first = first,
			.count = min32(tile, end - first),
			.range_first = range_first,
			.ranges = l->n_ranges - range_first,
			.diagonal = diagonal };
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

/* Tiles of sequence `i` for every head. Causal tiles stop at the diagonal. */
static int build_sequence(const struct fw_attention *a, int32_t i, struct range q, struct range k, int keys, struct list *l)
{
	int32_t tile = keys ? TILE_K : TILE_Q;
	const int is_causal = a->mask == FW_CAUSAL || a->mask == FW_CACHE;
	int32_t diagonal = is_causal ? k.end - q.end + 1 : NO_DIAGONAL;
	struct range outer = keys ? k : q;

	for (int32_t head = 0; head < a->nhk; head++) {
		for (int32_t first = outer.begin; first < outer.end; first += tile) {
			int32_t end = min32(first + tile, outer.end), range_first = l->n_ranges;
			struct range seen = keys ? q : k;
			if (is_causal && keys && first - diagonal + 1 > seen.begin)
				seen.begin = first - diagonal + 1;
			if (is_causal && !keys && end - 1 + diagonal < seen.end)
				seen.end = end - 1 + diagonal;
			if (a->window && !keys && first + diagonal - a->window > seen.begin)
				seen.begin = first + diagonal - a->window;
			if (seen.begin < seen.end) {
				if (l->n_ranges == l->max_ranges)
					return -1;
				l->range[l->n_ranges++] = seen;
			}
			if (add_items(l, head, first, end, tile, range_first, diagonal))
				return -1;
			l->item[l->n_items - 1].q_begin = q.begin;
			l->item[l->n_items - 1].k_begin = k.begin;
			l->item[l->n_items - 1].q_tile = first_q_tile(i, q.begin);
			l->item[l->n_items - 1].sequence = i;
		}
	}
	return 0;
}

/* Whether offsets ascend from 0 to the totals; NULL: one sequence. */
static int offsets_fit(const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k)
{
	if (!cu_q || !cu_k)
		return a->n_seqs == 1;
	if (cu_q[0] != 0 || cu_k[0] != 0 || cu_q[a->n_seqs] != a->total_q || cu_k[a->n_seqs] != a->total_k)
		return 0;
	for (int32_t i = 0; i < a->n_seqs; i++)
		if (cu_q[i + 1] < cu_q[i] || cu_k[i + 1] < cu_k[i])
			return 0;
	return 1;
}

int lists_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, int keys, struct list *l)
{
	l->n_items = l->n_ranges = 0;
	if (a->mask == FW_BLOCKS)
		return build_blocks(a, bits, keys, l);
	if (a->n_seqs == 1)
		cu_q = cu_k = NULL;
	if (!offsets_fit(a, cu_q, cu_k))
		return -1;
	for (int32_t i = 0; i < a->n_seqs; i++)
		if (build_sequence(a, i, sequence_tokens(cu_q, i, a->total_q), sequence_tokens(cu_k, i, a->total_k), keys, l))
			return -1;
	return 0;
}

int pages_fit(const struct fw_attention *a, const int32_t *cu_k, const int32_t *pages)
{
	if (a->n_seqs == 1)
		cu_k = NULL;
	for (int32_t i = 0; i < a->n_seqs; i++) {
		struct range k = sequence_tokens(cu_k, i, a->total_k);
		if (k.end - k.begin > a->max_k)
			return -1;
		for (int32_t entry = 0; entry < ceil_div(k.end - k.begin, a->page); entry++) {
			int32_t page = pages[(int64_t)i * page_entries(a) + entry];
			if (page < 0 || page >= a->n_pages)
				return -1;
		}
	}
	return 0;
}

void tiles_capacity(const struct fw_attention *a, struct tile_map *map)
{
	const int has_tokens = a->mask == FW_TOKENS;
	map->q_tiles = has_tokens ? a->total_q / TILE_Q + a->n_seqs : 0;
	map->k_tiles = has_tokens ? ceil_div(a->max_k, TILE_K) : 0;
}

/* Set bits of [first, first + n). */
static int32_t count_bits(const uint32_t *bits, int32_t first, int32_t n)
{
	int32_t sum = 0;
	for (int32_t end = first + n; first < end;) {
		int32_t here = min32(32 - first % 32, end - first);
		uint32_t word = bits[first / 32] >> (first % 32);
		sum += __builtin_popcount(here < 32 ? word & ((UINT32_C(1) << here) - 1) : word);
		first += here;
	}
	return sum;
}

/* One row of tiles: queries [first, first + rows) of a sequence of `keys` keys. Returns the number of set pairs. */
static int64_t build_tiles(int64_t words, const uint32_t *bits, int32_t rows, int32_t keys, uint8_t *state)
{
	int64_t sum = 0;
	for (int32_t key = 0; key < keys; key += TILE_K) {
		int32_t n = min32(TILE_K, keys - key), set = 0;
		for (int32_t row = 0; row < rows; row++)
			set += count_bits(bits + row * words, key, n);
		state[key / TILE_K] = set == 0 ? TILE_EMPTY : set == rows * n ? TILE_WHOLE : TILE_PARTIAL;
		sum += set;
	}
	return sum;
}

int64_t tiles_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, struct tile_map *map)
{
	int64_t words = token_words(a), sum = 0;
	if (a->n_seqs == 1)
		cu_q = cu_k = NULL;
	if (!offsets_fit(a, cu_q, cu_k))
		return -1;
	for (int32_t i = 0; i < a->n_seqs; i++) {
		struct range q = sequence_tokens(cu_q, i, a->total_q), k = sequence_tokens(cu_k, i, a->total_k);
		if (k.end - k.begin > a->max_k)
			return -1;
		for (int32_t head = 0; head < a->nhq; head++)
			for (int32_t row = q.begin; row < q.end; row += TILE_Q) {
				int64_t tile = (int64_t)head * map->q_tiles + first_q_tile(i, q.begin) + (row - q.begin) / TILE_Q;
				sum += build_tiles(words, bits + ((int64_t)head * a->total_q + row) * words,
					min32(TILE_Q, q.end - row), k.end - k.begin, map->state + tile * map->k_tiles);
			}
	}
	return sum;
}
