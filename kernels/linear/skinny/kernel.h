/**
 * kernel.h - the product of provider "skinny", a template over the format of W.
 * Two warps load as many chunks ahead as fit into shared memory: one loads W (packed by bulk copies, bf16 by boxes), one loads
 * boxes of X. The others convert packed values to bf16 in registers and multiply:
 *
 *     Y[column][row0 + 16 tile + lane / 4] += W[row][k] X[column][k]     acc[tile][column / 8][..], as in mma.m16n8k16
 * The partial sums of the shares of k are sent to the shared memory of the block that owns a row, in one slot for each share;
 * slots are added in order, so equal inputs give equal bits.
 */
#ifndef LINEAR_SKINNY_KERNEL_H
#define LINEAR_SKINNY_KERNEL_H

#include "hopper/cluster.h"
#include "linear/rounding.h"
#include "linear/skinny/tile.h"

/* Prevents the compiler from recomputing a value wherever it is used. */
SKINNY_DEVICE uint32_t skinny_keep(uint32_t v)
{
	asm volatile("" : "+r"(v));
	return v;
}

SKINNY_DEVICE void skinny_cluster_arrive(void)
{
	asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

SKINNY_DEVICE void skinny_cluster_wait(void)
{
	asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Store a float at the same offset in the shared memory of another block of the cluster. */
SKINNY_DEVICE void skinny_send(uint32_t address, uint32_t rank, float v)
{
	uint32_t there;
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
	asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(v) : "memory");
}

/* Load a box of (64 columns, rows, blocks of 64 columns) of X. */
SKINNY_DEVICE void skinny_load_box(uint32_t to, const CUtensorMap *map, uint32_t barrier, int column, int block)
{
	asm volatile(
		"cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
			"r"(to),
		"l"(map), "r"(barrier), "r"(column), "r"(0), "r"(block)
		: "memory");
}

SKINNY_DEVICE void skinny_load_w(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
	asm volatile(
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
			"r"(to),
		"l"(from), "r"(bytes), "r"(barrier), "l"(SM90_EVICT_FIRST)
		: "memory");
}

/* Load a box of (64 columns, rows of a tile) of W in bf16. */
SKINNY_DEVICE void skinny_load_w_box(uint32_t to, const CUtensorMap *map, uint32_t barrier, int column, int row)
{
	asm volatile(
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], "
		"[%2], %5;" ::"r"(to),
		"l"(map), "r"(barrier), "r"(column), "r"(row), "l"(SM90_EVICT_FIRST)
		: "memory");
}

/* Addresses in shared memory. */
struct skinny_memory {
	uint32_t stages, stage_bytes, received;
	uint32_t full, empty; /* barriers, 8 bytes per stage; the "empty" ones begin SKINNY_STAGES_MAX after the "full" ones */
};

/* The chunks of this block: `count` of them, from first on. */
struct skinny_share {
	int32_t tile, first, count;
};

/* Load the columns of X of one chunk. */
template <int ROWS, int BLOCK_K>
SKINNY_DEVICE void skinny_load_x(const struct skinny_task &task, uint32_t to, uint32_t barrier, int32_t chunk)
{
	if (task.x_in_blocks)
		skinny_load_box(to, &task.x, barrier, 0, chunk * (BLOCK_K / 64));
	else
		for (int block = 0; block < BLOCK_K / 64; block++)
			skinny_load_box(to + block * ROWS * 128, &task.x, barrier, chunk * BLOCK_K + block * 64, 0);
}

/* A stage of the ring, and the parity of its barriers' next phase. */
struct skinny_place {
	int stage;
	uint32_t parity;
};

SKINNY_DEVICE void skinny_step(const struct skinny_task &task, struct skinny_place *place)
{
	if (++place->stage == task.shape.stages) {
		place->stage = 0;
		place->parity ^= 1;
	}
}

/*
 * Load all chunks of W of this block; called by one thread. Packed W is written by launches that no later launch overlaps: it is
 * loaded at once. bf16 W belongs to the caller: wait for the previous launch, which may still be writing it.
 */
template <int FORMAT, int ROWS, int BLOCK_K>
SKINNY_DEVICE void skinny_produce_w(
	const struct skinny_task &task, const struct skinny_memory &memory, const struct skinny_share &share)
{
	const uint32_t bytes = (uint32_t)skinny_chunk_bytes(FORMAT, &task.shape, task.group_log2);
	struct skinny_place place = { 0, 1 }; /* the stages of the first round have no readers */
	if (FORMAT == FW_BF16)
		asm volatile("griddepcontrol.wait;" ::: "memory");
	for (int i = share.first; i < share.first + share.count; i++) {
		const uint32_t barrier = memory.full + 8 * place.stage;
		const uint32_t to = memory.stages + place.stage * memory.stage_bytes + ROWS * BLOCK_K * 2;
		sm90_barrier_wait(memory.empty + 8 * place.stage, place.parity);
		sm90_barrier_expect(barrier, bytes);
		if (FORMAT == FW_BF16)
			for (int block = 0; block < BLOCK_K / 64; block++)
				skinny_load_w_box(to + block * task.shape.block_n * 128, &task.w, barrier,
					i * BLOCK_K + block * 64, share.tile * task.shape.block_n);
		else
			skinny_load_w(to, task.packed + ((int64_t)share.tile * task.chunks + i) * bytes, bytes, barrier);
		skinny_step(task, &place);
	}
}

/* Load the matching chunks of X; called by another thread. Wait for the previous launch, which may still be writing X. */
template <int ROWS, int BLOCK_K>
SKINNY_DEVICE void skinny_produce_x(
	const struct skinny_task &task, const struct skinny_memory &memory, const struct skinny_share &share)
{
	struct skinny_place place = { 0, 1 };
	asm volatile("griddepcontrol.wait;" ::: "memory");
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
	for (int i = 0; i < share.count; i++) {
		const uint32_t barrier = memory.full + 8 * place.stage;
		sm90_barrier_wait(memory.empty + 8 * place.stage, place.parity);
		sm90_barrier_expect(barrier, ROWS * BLOCK_K * 2);
		skinny_load_x<ROWS, BLOCK_K>(task, memory.stages + place.stage * memory.stage_bytes, barrier, share.first + i);
		skinny_step(task, &place);
	}
}

template <int FORMAT, int ROWS, int TILES, int WARPS_K, int BLOCK_K>
SKINNY_DEVICE void skinny_consume(const struct skinny_task &task, const struct skinny_memory &memory,
	const struct skinny_share &share, float (&acc)[TILES][ROWS / 8][4])
{
	constexpr int blocks = BLOCK_K / 64, columns = ROWS / 8;
	constexpr uint32_t x_bytes = ROWS * BLOCK_K * 2;
	static_assert(blocks == WARPS_K, "a warp has one block of every chunk");
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	const int tile0 = warp / WARPS_K * TILES, block = warp % WARPS_K;
	const int group = (block * 64 + 16 * t) >> task.group_log2;
	const uint32_t values = skinny_keep(x_bytes + skinny_tile<FORMAT>::place(task.shape.block_n, blocks, tile0, block, lane));
	const uint32_t scales = skinny_keep(x_bytes + task.shape.block_n * (BLOCK_K * skinny_bits(FORMAT) / 8) +
					    (group * task.shape.block_n + tile0 * 16) * 4 + g * 8);
	const uint32_t x_even = skinny_keep(block * ROWS * 128 + g * 128 + (2 * t ^ g) * 16), x_odd = skinny_keep(x_even ^ 16);
	const uint32_t stage_bytes = skinny_keep(memory.stage_bytes), last = skinny_keep(memory.full + 8 * task.shape.stages);
	uint32_t base = memory.stages, full = memory.full, parity = 0;
	for (int i = share.count; i > 0; i--) {
		sm90_barrier_wait(full, parity);
		skinny_tile<FORMAT> w[TILES];
		uint4 x[2][columns];
#pragma unroll
		for (int tile = 0; tile < TILES; tile++)
			skinny_tile<FORMAT>::load(
				w[tile], base + values + tile * skinny_tile<FORMAT>::step(blocks), base + scales + tile * 64);
#pragma unroll
		for (int half = 0; half < 2; half++) {
#pragma unroll
			for (int c = 0; c < columns; c++)
				x[half][c] = sm80_load_shared16(base + (half == 0 ? x_even : x_odd) + c * 1024);
			if (half == 1) { /* everything is in registers */
				__syncwarp();
				if (lane == 0)
					sm90_barrier_arrive(full + 8 * SKINNY_STAGES_MAX);
			}
#pragma unroll
			for (int tile = 0; tile < TILES; tile++) {
				uint32_t a[4];
				skinny_tile<FORMAT>::fragment(w[tile], 2 * half, a);
#pragma unroll
				for (int c = 0; c < columns; c++)
					sm80_mma(acc[tile][c], a, x[half][c].x, x[half][c].y);
				skinny_tile<FORMAT>::fragment(w[tile], 2 * half + 1, a);
#pragma unroll
				for (int c = 0; c < columns; c++)
					sm80_mma(acc[tile][c], a, x[half][c].z, x[half][c].w);
			}
		}
		full += 8;
		base += stage_bytes;
		if (full == last) {
			full = memory.full;
			base = memory.stages;
			parity ^= 1;
		}
	}
}

/* Send a warp's sums to the slot of its share in the block that owns the rows: received[share][column][row]. */
template <int ROWS, int TILES, int WARPS_K>
SKINNY_DEVICE void skinny_hand_over(
	const struct skinny_task &task, const struct skinny_memory &memory, uint32_t rank, const float (&acc)[TILES][ROWS / 8][4])
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	const int owned_log2 = task.owned_log2, owned = 1 << owned_log2;
	const uint32_t slot = memory.received + (rank * WARPS_K + warp % WARPS_K) * owned * ROWS * 4;
#pragma unroll
	for (int tile = 0; tile < TILES; tile++) {
		const int row = (warp / WARPS_K * TILES + tile) * 16 + g;
#pragma unroll
		for (int c = 0; c < ROWS / 8; c++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const int column = c * 8 + 2 * t + i % 2, r = row + i / 2 * 8;
				skinny_send(slot + ((column << owned_log2) + (r & (owned - 1))) * 4, r >> owned_log2,
					acc[tile][c][i]);
			}
	}
}

/* Add the slots of the rows that this block owns, apply the epilogue and store. */
template <int FORMAT, int ROWS, int WARPS_K>
SKINNY_DEVICE void skinny_finish(
	const struct skinny_task &task, const struct skinny_memory &memory, uint32_t rank, const struct skinny_share &share)
{
	const int owned_log2 = task.owned_log2, owned = 1 << owned_log2;
	const int slots = task.shape.split * WARPS_K;
	const int32_t row0 = share.tile * task.shape.block_n + rank * owned;
	for (int i = threadIdx.x; i < owned * task.m; i += SKINNY_THREADS) {
		const int32_t row = row0 + (i & (owned - 1)), column = i >> owned_log2;
		if (row >= task.n)
			continue;
		float sum = 0.0f;
		for (int slot = 0; slot < slots; slot++) {
			float v;
			asm volatile("ld.shared.f32 %0, [%1];"
				     : "=f"(v)
				     : "r"(memory.received + (slot * owned * ROWS + i) * 4)
				     : "memory");
			sum += v;
		}
		if (task.x_scale)
			sum *= task.x_scale[column * task.x_scale_step];
		if (FORMAT == FW_I8 || FORMAT == FW_E4M3)
			sum *= task.scale[row];
		if (task.bias)
			sum += rounding_widen(task.bias[row]);
		task.out[column * task.out_stride + row] = rounding_bf16(rounding_activate(task.activation, sum));
	}
}

template <int FORMAT, int ROWS, int TILES, int WARPS_K, int BLOCK_K>
static __global__ void __launch_bounds__(SKINNY_THREADS, skinny_blocks(ROWS, TILES))
	skinny_kernel(const __grid_constant__ struct skinny_task task)
{
#ifdef SM90_CODE
	extern __shared__ unsigned char raw[];
	struct skinny_memory memory;
	memory.stages = (sm80_shared(raw) + 1023) & ~1023u;
	memory.stage_bytes = (uint32_t)task.stage_bytes;
	memory.received = memory.stages + task.shape.stages * memory.stage_bytes;
	memory.full = memory.received + (uint32_t)task.received_bytes;
	memory.empty = memory.full + 8 * SKINNY_STAGES_MAX;

	const uint32_t rank = cluster_rank();
	const int split_log2 = task.split_log2;
	struct skinny_share share;
	share.tile = blockIdx.x >> split_log2;
	share.first = task.chunks * rank >> split_log2;
	share.count = (task.chunks * (rank + 1) >> split_log2) - share.first;

	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	if (warp == SKINNY_WARPS + 1 && lane == 0)
		sm90_prefetch_map(&task.x);
	if (FORMAT == FW_BF16 && warp == SKINNY_WARPS && lane == 0)
		sm90_prefetch_map(&task.w);
	if (warp == SKINNY_WARPS && lane == 0) {
		for (int i = 0; i < task.shape.stages; i++) {
			sm90_barrier_init(memory.full + 8 * i, 2);
			sm90_barrier_init(memory.empty + 8 * i, SKINNY_WARPS);
		}
		sm90_barrier_init_done();
	}
	__syncthreads();
	/*
	 * Signals that this block runs, so that others may write to its memory. Relaxed: it has written nothing that others read.
	 */
	asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
	if (warp >= SKINNY_WARPS) {
		if (warp == SKINNY_WARPS && lane == 0)
			skinny_produce_w<FORMAT, ROWS, BLOCK_K>(task, memory, share);
		else if (lane == 0)
			skinny_produce_x<ROWS, BLOCK_K>(task, memory, share);
		__syncwarp();
		skinny_cluster_wait();
	} else {
		float acc[TILES][ROWS / 8][4];
		for (int i = 0; i < TILES * ROWS / 2; i++)
			acc[i / (ROWS / 2)][i / 4 % (ROWS / 8)][i % 4] = 0.0f;
		skinny_consume<FORMAT, ROWS, TILES, WARPS_K, BLOCK_K>(task, memory, share, acc);
		skinny_cluster_wait();
		skinny_hand_over<ROWS, TILES, WARPS_K>(task, memory, rank, acc);
	}
	skinny_cluster_arrive();
	skinny_cluster_wait();
	skinny_finish<FORMAT, ROWS, WARPS_K>(task, memory, rank, share);
#endif
}

/* The kernel for the task's number of rows of X. */
template <int FORMAT, int TILES, int WARPS_K, int BLOCK_K> static const void *skinny_for_rows(const struct skinny_task *t)
{
	switch (skinny_rows(t->m)) {
	case 8:
		return (const void *)skinny_kernel<FORMAT, 8, TILES, WARPS_K, BLOCK_K>;
	case 16:
		return (const void *)skinny_kernel<FORMAT, 16, TILES, WARPS_K, BLOCK_K>;
	case 32:
		return (const void *)skinny_kernel<FORMAT, 32, TILES, WARPS_K, BLOCK_K>;
	default: /* two tiles of 64 columns do not fit into the registers */
		return TILES == 1 ? (const void *)skinny_kernel<FORMAT, 64, 1, WARPS_K, BLOCK_K> : NULL;
	}
}

#endif
