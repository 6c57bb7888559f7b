/**
 * v2_walk.h - what forward and the dQ kernel of provider "hopper.v2" have in common: blocks that own 64 queries of two heads (odd
 * groups: 128 of one) and walk over the keys that these see, 128 at a time.
 *
 * A persistent block has three warp groups. The first only loads: it draws items, tells them to the others through a ring of two
 * and keeps the stages of K and V filled. The other two compute 64 rows each.
 */
#ifndef ATTENTION_HOPPER_V2_WALK_H
#define ATTENTION_HOPPER_V2_WALK_H

#include "sm90.h"
#include "v2.h"

#include <math_constants.h>

enum {
	GROUP_THREADS = 128,
	COMPUTE_GROUPS = 2,
	THREADS = GROUP_THREADS * (1 + COMPUTE_GROUPS),
	COMPUTE_WARPS = COMPUTE_GROUPS * 4,
	ROWS = 64,  /* of a compute group */
	KEYS = 128, /* of a step */
	STAGES = 2,
	ITEM_BYTES = 64, /* of a place in the ring */
	LOADER_REGISTERS = 56,
	COMPUTE_REGISTERS = 224,
};

/* Barriers in shared memory, 8 bytes each. */
enum {
	ROWS_FULL, /* a tile's Q, and what else it has of rows */
	ROWS_EMPTY,
	K_FULL,
	K_EMPTY = K_FULL + STAGES,
	V_FULL = K_EMPTY + STAGES,
	V_EMPTY = V_FULL + STAGES,
	ITEM_FULL = V_EMPTY + STAGES,
	ITEM_EMPTY = ITEM_FULL + 2,
	BARRIERS = ITEM_EMPTY + 2
};

/** Sizes of tiles in shared memory, bytes. */
template <int D> struct walk_tiles {
	static const int panels = D / 64;
	static const int row_panel = ROWS * 128;    /* one panel of a group's Q, dO or output */
	static const int key_panel = KEYS * 128;    /* one panel of K or V */
	static const int rows = panels * row_panel; /* one group's Q, dO or output */
	static const int tile = panels * key_panel; /* a K or V stage */
};

/** What the loader tells the compute groups. */
struct item {
	struct tile tile;
	int32_t kv_head, unit, last, reserved;
};

/** First keys of the two halves of a step. A pair of 64-token blocks may lack its second: then it repeats the first. */
struct halves {
	int first, second;
};

#ifdef SM90_CODE
/** By all threads, before roles part. One thread fills, every compute warp empties. */
SM90_DEVICE void begin_barriers(uint32_t barrier)
{
	if (threadIdx.x == 0) {
		for (int i = 0; i < BARRIERS; i++) {
			const bool full = i == ROWS_FULL || (i >= K_FULL && i < K_EMPTY) || (i >= V_FULL && i < V_EMPTY) ||
					  (i >= ITEM_FULL && i < ITEM_EMPTY);
			sm90_barrier_init(barrier + i * 8, full ? 1 : COMPUTE_WARPS);
		}
		sm90_barrier_init_done();
	}
	__syncthreads();
}

SM90_DEVICE struct halves halves_of(const struct job &job, const struct tile &tile, int step)
{
	struct halves h;
	if (tile_is_list(tile.inner) && job.block == 64) {
		h.first = job.list[~tile.inner + 2 * step] * 64;
		h.second = 2 * step + 1 < tile.steps ? job.list[~tile.inner + 2 * step + 1] * 64 : h.first;
	} else {
		h.first = tile_is_list(tile.inner) ? job.list[~tile.inner + step] * KEYS : tile.inner + step * KEYS;
		h.second = h.first + 64;
	}
	return h;
}

/** Load a step of K or V. Two blocks of 64 that lie side by side are one box like any other step; with a dense mask all are. */
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

/** Item `i` of the grid, or the next one drawn after it that has rows. Returns its number, `items` when there is none. */
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

/** The loader writes a place of the ring, one barrier arrival later the others may read it. */
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

/** What a kernel's loader reads: up to two tensors of rows, K and V. */
struct walk_maps {
	const CUtensorMap *row[2], *k, *k_half, *v, *v_half;
};

/** V of a step is loaded beside K, or one step behind it: as a kernel's products want them. */
enum pace { BESIDE, BEHIND };

/** What "empty" of a stage must have completed before load number `loads` of its ring; a fresh barrier counts as if it had. */
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
 * The loader: one thread. It draws items, tells them to the others and keeps rows and the stages of K and V filled.
 * SHARED: the kernel's layout, a walk_tiles with `rows_at` for `row_tensors` tensors of rows, and k, v, items, barriers.
 */
template <class SHARED, enum pace PACE>
SM90_DEVICE void load_items(const struct job &work, const struct walk_maps &maps, uint32_t base, unsigned char *memory)
{
	const uint32_t barrier = base + SHARED::barriers;
	const uint32_t items = (uint32_t)job_items(&work, job_forward_units(&work));
	uint32_t told = 0, row_loads = 0, k_loads = 0, v_loads = 0;

#pragma unroll
	for (int r = 0; r < SHARED::row_tensors; r++)
		sm90_prefetch_map(maps.row[r]);
	sm90_prefetch_map(maps.k);
	sm90_prefetch_map(maps.v);
	struct item item;
	uint32_t i = fetch_item(work, blockIdx.x, items, &item);
	for (;;) {
		const uint32_t slot = told & 1;
		sm90_barrier_wait(barrier + (ITEM_EMPTY + slot) * 8, ((told >> 1) & 1) ^ 1);
		tell_item(memory + SHARED::items + slot * ITEM_BYTES, item, i >= items);
		sm90_barrier_arrive(barrier + (ITEM_FULL + slot) * 8);
		told++;
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
		/* Now, while the others compute: neither the ticket's nor the tile's latency shows. */
		i = fetch_item(work, gridDim.x + (uint32_t)atomicAdd(work.cursor + 1, 1), items, &item);
		if (PACE == BEHIND) {
			struct halves next = step > 0 ? halves_of(work, tile, step - 1) : at;
			for (; step >= 0; step--) {
				if (step > 0) {
					sm90_barrier_wait(barrier + (K_EMPTY + k_loads % STAGES) * 8, empty_parity(k_loads));
					load_k<SHARED>(maps, base, k_loads % STAGES, next, kv_head);
					k_loads++;
				}
				/* the list is read while V waits, a step before it is needed */
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

/** A compute group waits for item number `heard` and frees its place in the ring. False: there are no more. */
template <class SHARED> SM90_DEVICE bool hear_item(const unsigned char *memory, uint32_t base, uint32_t heard, struct item *item)
{
	const uint32_t barrier = base + SHARED::barriers, slot = heard & 1;
	sm90_barrier_wait(barrier + (ITEM_FULL + slot) * 8, (heard >> 1) & 1);
	const volatile struct item *from = (const volatile struct item *)(memory + SHARED::items + slot * ITEM_BYTES);
	item->tile.first = from->tile.first;
	item->tile.end = from->tile.end;
	item->tile.inner = from->tile.inner;
	item->tile.inner_end = from->tile.inner_end;
	item->tile.steps = from->tile.steps;
	item->tile.diagonal = from->tile.diagonal;
	item->kv_head = from->kv_head;
	item->unit = from->unit;
	item->last = from->last;
	__syncwarp();
	if (threadIdx.x % 32 == 0)
		sm90_barrier_arrive(barrier + (ITEM_EMPTY + slot) * 8);
	return !item->last;
}

/** Scores of keys that a row must not see become -inf. `limit`: last column each of this thread's two rows sees, in each half. */
SM90_DEVICE void mask_scores(float (&s)[64], const int (&limit)[2][2])
{
#pragma unroll
	for (int n = 0; n < 16; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (n % 8 * 8 + i % 2 > limit[i / 2][n / 8])
				s[4 * n + i] = -CUDART_INF_F;
}

/** Queue s = rows keys^T as one group. */
template <int D> SM90_DEVICE void issue_scores(float (&s)[64], uint64_t rows, uint64_t keys)
{
	typedef walk_tiles<D> tiles;
	sm90_pin(s);
	sm90_wgmma_fence();
#pragma unroll
	for (int kk = 0; kk < D / 16; kk++)
		sm90_mma<0, 0>(s, rows + sm90_k_offset(kk, tiles::row_panel), keys + sm90_k_offset(kk, tiles::key_panel), kk > 0);
	sm90_wgmma_commit();
}

/** Queue o (+)= p keys as one group; p holds a packed accumulator. */
template <int D> SM90_DEVICE void issue_output(float (&o)[D / 2], uint32_t (&p)[32], uint64_t keys, int add)
{
	sm90_pin(o);
	sm90_pin(p);
	sm90_wgmma_fence();
#pragma unroll
	for (int kk = 0; kk < KEYS / 16; kk++)
		sm90_mma<1>(o, p + 4 * kk, keys + kk * SM90_ROWS_STEP, kk > 0 ? 1 : add);
	sm90_wgmma_commit();
}

/**
 * Rows of a group leave as bf16, times `factor`, through `stage` in shared memory: whole tiles by TMA, what ends inside a tile row by
 * row (the next sequence follows there). `barrier`: a named barrier of this group.
 */
template <int D>
SM90_DEVICE void store_rows(const CUtensorMap *map, const struct tensor &tensor, const float (&o)[D / 2],
	const float (&factor)[2], uint32_t stage, int barrier, int first, int end, int head)
{
	typedef walk_tiles<D> tiles;
	const int thread = threadIdx.x % GROUP_THREADS, warp = thread / 32, lane = thread % 32;
	if (thread == 0)
		sm90_bulk_wait_read<0>(); /* the store of the tile before */
	sm90_named_sync(barrier, GROUP_THREADS);
	const int row = warp * 16 + lane % 16;
#pragma unroll
	for (int n = 0; n < D / 8; n += 2) {
		const int chunk = n + lane / 16;
		const uint32_t to = stage + chunk / 8 * tiles::row_panel + row * 128 + (((chunk % 8) ^ (row % 8)) << 4);
		sm90_store_matrices<0>(to, sm80_pack(o[4 * n] * factor[0], o[4 * n + 1] * factor[0]),
			sm80_pack(o[4 * n + 2] * factor[1], o[4 * n + 3] * factor[1]),
			sm80_pack(o[4 * n + 4] * factor[0], o[4 * n + 5] * factor[0]),
			sm80_pack(o[4 * n + 6] * factor[1], o[4 * n + 7] * factor[1]));
	}
	if (end - first >= ROWS) {
		sm90_fence_async();
		sm90_named_sync(barrier, GROUP_THREADS);
		if (thread == 0) {
			sm90_store(map, stage, first, 0, head);
			sm90_bulk_commit();
		}
		return;
	}
	__syncwarp();
	const int chunks = D / 8, chunk = lane % chunks;
	for (int r = warp * 16 + lane / chunks; r < warp * 16 + 16 && first + r < end; r += 32 / chunks) {
		uint4 bits;
		asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
			     : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
			     : "r"(stage + chunk / 8 * tiles::row_panel + r * 128 + (((chunk % 8) ^ (r % 8)) << 4)));
		*(uint4 *)((__nv_bfloat16 *)tensor.data + (first + r) * tensor.token + head * tensor.head + chunk * 8) = bits;
	}
}
#endif

#endif
