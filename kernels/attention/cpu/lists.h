/**
 * lists.h - work lists: the keys that a tile of query rows must visit, and the rows that a tile of keys must visit.
 * Full, causal, varlen and block masks are all converted to the same two lists, so that the only mask in the kernels is the
 * causal diagonal. Built from device data in the phase RANGE_MERGE, into the workspace.
 */
#ifndef ATTENTION_CPU_LISTS_H
#define ATTENTION_CPU_LISTS_H

#include "fw_attention.h"

/** Consecutive tokens [begin, end). */
struct range {
	int32_t begin, end;
};

/**
 * A tile of query rows (or keys) of one key head, and the ranges that it visits. Row i sees key j of a visited range when j < i +
 * diagonal; NO_DIAGONAL: all are seen.
 */
struct item {
	int32_t kv_head;
	int32_t first, count;        /* tokens of the tile */
	int32_t range_first, ranges; /* in list.range */
	int32_t diagonal;
};

#define NO_DIAGONAL (1 << 30)

/** Shape: item[max_items], range[max_ranges]. Own: both arrays belong to the owner of the memory they were laid out in. */
struct list {
	int32_t n_items, n_ranges;
	int32_t max_items, max_ranges;
	struct item *item;
	struct range *range;
};

/**
 * Capacity of a problem's list for any mask of its sizes. `keys` selects the list of key tiles instead of query tiles.
 * Units: entries, at most INT_MAX.
 */
void lists_room(const struct fw_attention *a, int keys, int32_t *max_items, int32_t *max_ranges);

/**
 * Fill a list from offsets and block bits. Adjacent set blocks become one range.
 * Shape: as FW_CU_Q, FW_CU_K and FW_BLOCK_BITS; cu_q and cu_k may be NULL with one sequence, bits without a block mask.
 * Own: `l` retains its arrays; their old contents are overwritten.
 * Err: -1 when the mask has more blocks than the problem allows, or offsets descend or do not end at its total.
 */
int lists_build(
	const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, const uint32_t *bits, int keys, struct list *l);

#endif
