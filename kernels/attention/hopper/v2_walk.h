/**
 * v2_walk.h - code shared by forward and the dQ kernel of provider "hopper.v2": blocks that own 64 queries of two heads (odd
 * groups: 128 of one) and traverse the keys that these see, 128 at a time.
 * A persistent block has three warp groups. The first only loads: it takes items, passes them to the others through a ring of two
 * and loads the stages of K and V. The other two compute 64 rows each.
 */
#ifndef ATTENTION_HOPPER_V2_WALK_H
#define ATTENTION_HOPPER_V2_WALK_H

#include "hopper/sm90.h"
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
	ITEM_BYTES = 64, /* size of an entry of the item ring */
	LOADER_REGISTERS = 56,
	COMPUTE_REGISTERS = 224,
};

/* Barriers in shared memory, 8 bytes each. */
enum {
	ROWS_FULL, /* a tile's Q, and other tensors of its rows */
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

/** Description of an item, from the loader to the compute groups. */
struct item {
	struct tile tile;
	int32_t kv_head, unit, last, reserved;
};

/** First keys of the two halves of a step. The second of a pair of 64-token blocks may be missing: then the first is repeated. */
struct halves {
	int first, second;
};

#ifdef SM90_CODE
/** Initialise the barriers; called by all threads, before they split into roles. One thread fills, every compute warp empties. */
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

/** A compute group waits for item number `heard` and frees its entry in the ring. False: there are no more items. */
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

/** Set scores of keys that a row must not see to -inf. `limit`: last column each of this thread's two rows sees, in each half. */
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
 * Store rows of a group as bf16, times `factor`, through `stage` in shared memory: whole tiles by TMA, a tile that ends early row
 * by row (its next rows belong to another sequence). `barrier`: a named barrier of this group.
 */
template <int D>
SM90_DEVICE void store_rows(const CUtensorMap *map, const struct tensor &tensor, const float (&o)[D / 2],
	const float (&factor)[2], uint32_t stage, int barrier, int first, int end, int head)
{
	typedef walk_tiles<D> tiles;
	const int thread = threadIdx.x % GROUP_THREADS, warp = thread / 32, lane = thread % 32;
	if (thread == 0)
		sm90_bulk_wait_read<0>(); /* the store of the previous tile */
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
