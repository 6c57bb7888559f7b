/**
 * lists.h - work lists: which keys a tile of query rows must visit, and which rows a tile of keys must visit.
 *
 * Full, causal, varlen and block masks all become the same two lists, so that the kernels know no mask but the causal
 * diagonal. Built from device data in the phase RANGE_MERGE, into the workspace.
 */
#ifndef ATTENTION_CPU_LISTS_H
#define ATTENTION_CPU_LISTS_H

#include "fw_attention.h"

/** Consecutive tokens [begin, end). */
struct range {
	int32_t begin, end;
};

/**
 * A tile of query rows (or keys) of one key head, and what it visits.
 * Row i sees key j of a visited range when j < i + diagonal; NO_DIAGONAL lets all pass.
 */
struct item {
	int32_t kv_head;
	int32_t first, count;        /* tokens of the tile */
	int32_t range_first, ranges; /* in list.range */
	int32_t diagonal;
};

#define NO_DIAGONAL (1 << 30)

/** Shape: item[max_items], range[max_ranges]. Own: both arrays are whoever's memory they were placed in. */
struct list {
	int32_t n_items, n_ranges;
	int32_t max_items, max_ranges;
	struct item *item;
	struct range *range;
};

/**
 * Room that a problem's list needs for any mask of its sizes. `keys` picks the list of key tiles instead of query tiles.
 * Units: entries, at most INT_MAX.
 */
void lists_room(const struct fw_attention *a, int keys, int32_t *max_items, int32_t *max_ranges);

/**
 * Fill a list from offsets and block bits. Adjacent kept blocks become one range.
 * Shape: as FW_CU_Q, FW_CU_K and FW_BLOCK_BITS; cu_q and cu_k may be NULL with one sequence, bits without a block mask.
 * Own:   `l` keeps its arrays, whose old contents are lost.
 * Err:   -1 when the mask has more blocks, or offsets end elsewhere or descend, than the problem promised.
 */
int lists_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, int keys, struct list *l);

#endif
