/**
 * v2_load.h - the loader of kernels that traverse keys (v2_walk.h): one thread takes items, passes them to the compute groups and
 * loads their rows and the stages of K and V.
 */
#ifndef ATTENTION_HOPPER_V2_LOAD_H
#define ATTENTION_HOPPER_V2_LOAD_H

#include "v2_walk.h"

#ifdef SM90_CODE
/** Load a step of K or V. Two adjacent blocks of 64 are one box like any other step; with a dense mask all are. */
template <class tiles>
SM90_DEVICE void load_keys(
	const CUtensorMap *whole, const CUtensorMap *half, uint32_t to, uint32_t full, struct halves at, int head)
{
	sm90_barrier_expect(full, tiles::tile);
	if (at.second == at.first + 64) {
		sm90_load(to, whole, full, at.first, 0, head, SM90_EVICT_LAST);
		return;
	}
#pragma unroll
	for (int panel = 0; panel < tiles::panels; panel++) {
		sm90_load(to + panel * tiles::key_panel, half, full, at.first, panel, head, SM90_EVICT_LAST);
		sm90_load(to + panel * tiles::key_panel + 64 * 128, half, full, at.second, panel, head, SM90_EVICT_LAST);
	}
}

/** Item `i` of the grid, or the next one taken after it that has rows. Returns its number, `items` when there is none. */
SM90_DEVICE uint32_t fetch_item(const struct job &job, uint32_t i, uint32_t items, struct item *item)
{
	while (i < items) {
		struct place place;
		if (job_place(&job, job_forward_units(&job), i, &place)) {
			item->tile = job.tiles[(job.block ? place.kv_head * job.n_tiles : 0) + place.tile];
			item->kv_head = place.kv_head;
			item->unit = place.unit;
			item->last = 0;
			if (item->tile.first >= 0)
				return i;
		}
		i = gridDim.x + (uint32_t)atomicAdd(job.cursor + 1, 1);
	}
	return items;
}

/** Write an entry of the item ring; after the barrier arrival the others may read it. */
SM90_DEVICE void tell_item(unsigned char *place, const struct item &item, bool last)
{
	volatile struct item *to = (volatile struct item *)place;
	to->tile.first = item.tile.first;
	to->tile.end = item.tile.end;
	to->tile.inner = item.tile.inner;
	to->tile.inner_end = item.tile.inner_end;
	to->tile.steps = item.tile.steps;
	to->tile.diagonal = item.tile.diagonal;
	to->kv_head = item.kv_head;
	to->unit = item.unit;
	to->last = last;
}

/** Tensors that a kernel's loader reads: up to two tensors of rows, K and V. */
struct walk_maps {
	const CUtensorMap *row[2], *k, *k_half, *v, *v_half;
};

/** Whether V of a step is loaded together with K, or one step later; depends on the order of a kernel's products. */
enum pace { BESIDE, BEHIND };

/**
 * Phase of "empty" of a stage that must have completed before load number `loads` of its ring; a new barrier counts as completed.
 */
SM90_DEVICE uint32_t empty_parity(uint32_t loads)
{
	return ((loads / STAGES) & 1) ^ 1;
}

template <class SHARED>
SM90_DEVICE void load_k(const struct walk_maps &maps, uint32_t base, uint32_t stage, struct halves at, int head)
{
	const uint32_t full = base + SHARED::barriers + (K_FULL + stage) * 8;
	load_keys<SHARED>(maps.k, maps.k_half, base + SHARED::k + stage * SHARED::tile, full, at, head);
}

template <class SHARED>
SM90_DEVICE void load_v(const struct walk_maps &maps, uint32_t base, uint32_t stage, struct halves at, int head)
{
	const uint32_t full = base + SHARED::barriers + (V_FULL + stage) * 8;
	load_keys<SHARED>(maps.v, maps.v_half, base + SHARED::v + stage * SHARED::tile, full, at, head);
}

/**
 * The loader: one thread. It takes items, passes them to the others and loads rows and the stages of K and V.
 * SHARED: the kernel's layout, a walk_tiles with `rows_at` for `row_tensors` tensors of rows, and k, v, items, barriers.
 */
template <class SHARED, enum pace PACE>
SM90_DEVICE void load_items(const struct job &work, const struct walk_maps &maps, uint32_t base, unsigned char *memory)
{
	const uint32_t barrier = base + SHARED::barriers;
	const uint32_t items = (uint32_t)job_items(&work, job_forward_units(&work));
	uint32_t announced = 0, row_loads = 0, k_loads = 0, v_loads = 0;

#pragma unroll
	for (int r = 0; r < SHARED::row_tensors; r++)
		sm90_prefetch_map(maps.row[r]);
	sm90_prefetch_map(maps.k);
	sm90_prefetch_map(maps.v);
	struct item item;
	uint32_t i = fetch_item(work, blockIdx.x, items, &item);
	for (;;) {
		const uint32_t slot = announced & 1;
		sm90_barrier_wait(barrier + (ITEM_EMPTY + slot) * 8, ((announced >> 1) & 1) ^ 1);
		tell_item(memory + SHARED::items + slot * ITEM_BYTES, item, i >= items);
		sm90_barrier_arrive(barrier + (ITEM_FULL + slot) * 8);
		announced++;
		if (i >= items)
			return;

		const struct tile tile = item.tile;
		const int kv_head = item.kv_head, head = kv_head * work.group + item.unit * work.heads;
		int step = (tile.steps + 1) / 2 - 1;
		struct halves at = { 0, 0 };
		if (step >= 0) {
			sm90_barrier_wait(barrier + ROWS_EMPTY * 8, (row_loads & 1) ^ 1);
			sm90_barrier_expect(barrier + ROWS_FULL * 8, SHARED::row_tensors * COMPUTE_GROUPS * SHARED::rows);
#pragma unroll
			for (int w = 0; w < COMPUTE_GROUPS; w++)
#pragma unroll
				for (int r = 0; r < SHARED::row_tensors; r++)
					sm90_load(base + SHARED::rows_at + (r * COMPUTE_GROUPS + w) * SHARED::rows, maps.row[r],
						barrier + ROWS_FULL * 8, tile.first + (work.heads == 1 ? w * ROWS : 0), 0,
						head + (work.heads == 1 ? 0 : w), SM90_EVICT_FIRST);
			row_loads++;
			if (PACE == BEHIND) {
				at = halves_of(work, tile, step);
				sm90_barrier_wait(barrier + (K_EMPTY + k_loads % STAGES) * 8, empty_parity(k_loads));
				load_k<SHARED>(maps, base, k_loads % STAGES, at, kv_head);
				k_loads++;
			}
		}
		if (PACE == BESIDE)
			for (; step >= 0; step--) {
				at = halves_of(work, tile, step);
				const uint32_t stage = k_loads % STAGES, parity = empty_parity(k_loads);
				sm90_barrier_wait(barrier + (K_EMPTY + stage) * 8, parity);
				load_k<SHARED>(maps, base, stage, at, kv_head);
				sm90_barrier_wait(barrier + (V_EMPTY + stage) * 8, parity);
				load_v<SHARED>(maps, base, stage, at, kv_head);
				k_loads++;
			}
		/* Now, while the others compute: hides the latency of the ticket and of the tile. */
		i = fetch_item(work, gridDim.x + (uint32_t)atomicAdd(work.cursor + 1, 1), items, &item);
		if (PACE == BEHIND) {
			struct halves next = step > 0 ? halves_of(work, tile, step - 1) : at;
			for (; step >= 0; step--) {
				if (step > 0) {
					sm90_barrier_wait(barrier + (K_EMPTY + k_loads % STAGES) * 8, empty_parity(k_loads));
					load_k<SHARED>(maps, base, k_loads % STAGES, next, kv_head);
					k_loads++;
				}
				/* the list is read while V waits, one step before it is needed */
				const struct halves after = step > 1 ? halves_of(work, tile, step - 2) : next;
				sm90_barrier_wait(barrier + (V_EMPTY + v_loads % STAGES) * 8, empty_parity(v_loads));
				load_v<SHARED>(maps, base, v_loads % STAGES, at, kv_head);
				v_loads++;
				at = next;
				next = after;
			}
		}
	}
}
#endif

#endif
