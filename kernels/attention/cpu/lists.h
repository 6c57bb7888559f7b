/**
 * lists.h - work lists: the keys that a tile of query rows must visit, and the rows that a tile of keys must visit.
 * Full, causal, varlen and block masks are all converted to the same two lists, so that the only mask of their kernels is the
 * causal diagonal. A token mask has the lists of the full mask, and a map of its tiles. Built from device data in the phase
 * RANGE_MERGE, into the workspace.
 */
#ifndef ATTENTION_CPU_LISTS_H
#define ATTENTION_CPU_LISTS_H

#include "attention/cpu/tile.h"
#include "fw_attention.h"

/** Consecutive tokens [begin, end). */
struct range {
	int32_t begin, end;
};

/**
 * A tile of query rows (or keys) of one key head, and the ranges that it visits. Row i sees key j of a visited range when j < i +
 * diagonal, and under a window when j >= i + diagonal - window; NO_DIAGONAL: all are seen.
 */
struct item {
	int32_t kv_head;
	int32_t first, count;        /* tokens of the tile */
	int32_t range_first, ranges; /* in list.range */
	int32_t diagonal;
	int32_t q_begin, k_begin; /* first tokens of the item's sequence; without sequences 0 */
	int32_t q_tile;           /* index of the sequence's first tile of queries in a map */
	int32_t sequence;
};

#define NO_DIAGONAL (1 << 30)

/** Shape: item[max_items], range[max_ranges]. Own: both arrays belong to the owner of the memory they were laid out in. */
struct list {
	int32_t n_items, n_ranges;
	int32_t max_items, max_ranges;
	struct item *item;
	struct range *range;
};

/** A tile of TILE_Q queries and TILE_K keys under a token mask. */
enum tile_state { TILE_EMPTY, TILE_PARTIAL, TILE_WHOLE };

/**
 * The tiles of a token mask. Shape: state[nhq][q_tiles][k_tiles], of enum tile_state; tiles of a sequence are consecutive.
 * Own: the array belongs to the owner of the memory it was laid out in.
 */
struct tile_map {
	int32_t q_tiles, k_tiles;
	uint8_t *state;
};

/** Set the sizes of a problem's map; 0 without a token mask. */
void tiles_capacity(const struct fw_attention *a, struct tile_map *map);

/** Words of a query's row of a token mask. */
static inline int64_t token_words(const struct fw_attention *a)
{
	return (a->max_k + 31) / 32;
}

/**
 * Fill a map. Shape: cu_q and cu_k as FW_CU_Q, NULL with one sequence; bits as FW_TOKEN_BITS. Returns the number of set pairs.
 * Err: -1 when a sequence is longer than the problem allows, or offsets descend or do not end at its total.
 */
int64_t tiles_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, struct tile_map *map);

/** Entries of a sequence in a table of pages. */
static inline int32_t page_entries(const struct fw_attention *a)
{
	return (a->max_k + a->page - 1) / a->page;
}

/**
 * Check that every entry of a table that a sequence uses is a page. Shape: pages as FW_PAGES, cu_k as FW_CU_K or NULL. Err: -1.
 */
int pages_fit(const struct fw_attention *a, const int32_t *cu_k, const int32_t *pages);

/** Tokens [begin, end) of sequence `i`. Shape: cu as FW_CU_Q or FW_CU_K, NULL with one sequence of `total` tokens. */
static inline struct range sequence_tokens(const int32_t *cu, int32_t i, int32_t total)
{
	return cu ? (struct range){ cu[i], cu[i + 1] } : (struct range){ 0, total };
}

/** Index of the first tile of queries of sequence `i`, which begins at token `begin`: sequences of any lengths do not overlap. */
static inline int32_t first_q_tile(int32_t i, int32_t begin)
{
	return begin / TILE_Q + i;
}

/**
 * Capacity of a problem's list for any mask of its sizes. `keys` selects the list of key tiles instead of query tiles.
 * Units: entries, at most INT_MAX.
 */
void lists_capacity(const struct fw_attention *a, int keys, int32_t *max_items, int32_t *max_ranges);

/**
 * Fill a list from offsets and block bits. Adjacent set blocks become one range.
 * Shape: as FW_CU_Q, FW_CU_K and FW_BLOCK_BITS; cu_q and cu_k may be NULL with one sequence, bits without a block mask.
 * Own: `l` retains its arrays; their old contents are overwritten.
 * Err: -1 when the mask has more blocks than the problem allows, or offsets descend or do not end at its total.
 */
int lists_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, int keys, struct list *l);

#endif
