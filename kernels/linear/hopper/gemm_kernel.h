/**
 * gemm_kernel.h - the kernel template behind gemm.h: TMA, wgmma, warp-specialised persistent blocks.
 *
 *     out[row][column] += left[row][j] * right[column][j], rows 64 g + .. of warp group g, columns of the whole tile, 4 steps of 32 bytes
 * One warp of the first group loads; it fills a ring of stages, also across tile boundaries. The blocks of a cluster own adjacent
 * row tiles: each loads its own rows and its share of the columns that both need. The two other groups multiply 64 rows each; a
 * stage is free when every warp of the cluster has read it. Sums are stored warp by warp: 16 rows of 64 columns through a buffer
 * in shared memory, stored by TMA while the next panel is packed and the other group multiplies.
 */
#ifndef LINEAR_HOPPER_GEMM_KERNEL_H
#define LINEAR_HOPPER_GEMM_KERNEL_H

#include "fw_linear.h"
#include "gemm.h"
#include "gemm_finish.h"
#include "hopper/cluster.h"
#include "hopper/wide.h"

template <int OPERANDS, int LEFT_ACROSS, int RIGHT_ACROSS, int WIDTH, int STAGES, int CLUSTER, int BUFFERS, int FINISHES>
struct gemm_tiles {
	static const int operands = OPERANDS, left_across = LEFT_ACROSS, right_across = RIGHT_ACROSS, width = WIDTH;
	static const int stages = STAGES, cluster = CLUSTER, buffers = BUFFERS, finishes = FINISHES;
	static const bool by_step = OPERANDS == GEMM_E4M3_BLOCKS || OPERANDS == GEMM_E4M3_SPANS;            /* scales are */
	static const bool adds = by_step || OPERANDS == GEMM_E4M3_PRECISE || OPERANDS == GEMM_E5M2_PRECISE; /* in fp32 */
	static const bool is_scaled = FINISHES != GEMM_PLAIN && !by_step;                                   /* in the epilogue */
	static const int panel = 64 * 128;                         /* bytes: 64 rows of 128 */
	static const int depth = OPERANDS == GEMM_BF16 ? 64 : 128; /* elements per step */
	static const int left = GEMM_ROWS * 128, right = WIDTH * 128, stage = left + right;
	static const int buffer = GEMM_STORE_ROWS * 128; /* per warp */
	static const int store = STAGES * stage;         /* offsets in shared memory */
	static const int barriers = store + 8 * BUFFERS * buffer;
	static const int scales = barriers + 2 * STAGES * 8;
	static const int shared =
		scales + (is_scaled ? finish_shared<WIDTH>::bytes : 0) + 1024; /* for the alignment of the rest */
	static const int warps = 8;                                            /* warps that multiply */
};

#ifdef SM90_CODE
/** Position of tile `t` in the order of the grid: `group` pairs of rows down, then the next column. */
SM90_DEVICE void gemm_place(const gemm_job &job, int t, int *pair, int *column)
{
	const int per_group = job.group * job.columns, first = t / per_group * job.group, rest = t % per_group;
	const int rows = min(job.group, job.pairs - first);
	*pair = first + rest % rows;
	*column = rest / rows;
}

template <class tiles> SM90_DEVICE void gemm_load(const gemm_job &job, uint32_t base, uint32_t rank)
{
	const int part = tiles::width / tiles::cluster; /* columns that this block loads for the cluster */
	uint32_t stage = 0, parity = 1;
	for (int t = (int)(blockIdx.x / tiles::cluster); t < job.pairs * job.columns; t += job.clusters) {
		int pair, column;
		gemm_place(job, t, &pair, &column);
		const int row = (pair * tiles::cluster + (int)rank) * GEMM_ROWS, first = column * tiles::width + (int)rank * part;
		for (int step = 0; step < job.steps; step++) {
			const uint32_t full = base + tiles::barriers + stage * 8, empty = full + tiles::stages * 8;
			const uint32_t left = base + stage * tiles::stage, right = left + tiles::left + rank * part * 128;
			const int depth = step * tiles::depth;
			sm90_barrier_wait(empty, parity);
			sm90_barrier_expect(full, tiles::stage);
			if (tiles::left_across)
				for (int p = 0; p < 2; p++)
					cluster_load(left + p * tiles::panel, &job.left, full, row + 64 * p, depth);
			else
				cluster_load(left, &job.left, full, depth, row);
			for (int p = 0; p < (tiles::right_across ? part / 64 : 1); p++) {
				const int x = tiles::right_across ? first + 64 * p : depth,
					  y = tiles::right_across ? depth : first;
				if (tiles::cluster > 1)
					cluster_load_shared(right + p * tiles::panel, &job.right, full, x, y,
						(uint16_t)((1 << tiles::cluster) - 1));
				else
					cluster_load(right + p * tiles::panel, &job.right, full, x, y);
			}
			if (++stage == tiles::stages) {
				stage = 0;
				parity ^= 1;
			}
		}
	}
}

/** A second thread of the loading group loads the scales of each tile. */
template <class tiles> SM90_DEVICE void gemm_load_scales(const gemm_job &job, uint32_t base, uint32_t rank)
{
	uint32_t parity = 0;
	for (int t = (int)(blockIdx.x / tiles::cluster); t < job.pairs * job.columns; t += job.clusters) {
		int pair, column;
		gemm_place(job, t, &pair, &column);
		finish_load<tiles::width>(job, base + tiles::scales, (pair * tiles::cluster + (int)rank) * GEMM_ROWS,
			column * tiles::width, parity);
		parity ^= 1;
	}
}

template <class tiles> SM90_DEVICE void gemm_mma(float (&d)[tiles::width / 2], uint64_t left, uint64_t right, int add)
{
	if constexpr (tiles::operands == GEMM_BF16)
		wide_mma_bf16<tiles::left_across, tiles::right_across>(d, left, right, add);
	else if constexpr (tiles::operands == GEMM_E5M2 || tiles::operands == GEMM_E5M2_PRECISE)
		wide_mma_e5m2(d, left, right, add);
	else
		wide_mma_e4m3(d, left, right, add);
}

/** Every warp of the cluster that has read a stage signals this to every block that loads into it. */
template <class tiles> SM90_DEVICE void gemm_release(uint32_t empty)
{
	const uint32_t lane = threadIdx.x % 32;
	if (tiles::cluster == 1 && lane == 0)
		sm90_barrier_arrive(empty);
	if (tiles::cluster > 1 && lane < tiles::cluster)
		cluster_barrier_arrive(empty, lane);
}

/** Scales by step of the sums that a lane holds; see gemm_finish.h for their rows and columns. */
template <class tiles> struct gemm_factors {
	const float *left, *right;
	float first, second; /* of rows g and g + 8 */
	float of_column[tiles::operands == GEMM_E4M3_SPANS ? tiles::width / 4 : 1];

	/** `row`: the warp's first; `column`: the tile's first. */
	__device__ __forceinline__ void begin(const gemm_job &job, int row, int column)
	{
		left = job.left_scale + row + threadIdx.x % 32 / 4;
		right = job.right_scale +
			(tiles::operands == GEMM_E4M3_SPANS ? column + (int)(threadIdx.x % 4) * 2 : column / 128);
	}

	/** Load those of the next step. */
	__device__ __forceinline__ void load(const gemm_job &job)
	{
		first = __ldg(left);
		second = __ldg(left + 8);
		if constexpr (tiles::operands == GEMM_E4M3_SPANS) {
#pragma unroll
			for (int j = 0; j < tiles::width / 8; j++) {
				const float2 both = __ldg((const float2 *)(right + 8 * j));
				of_column[2 * j] = both.x;
				of_column[2 * j + 1] = both.y;
			}
		} else {
			of_column[0] = __ldg(right);
		}
		left += job.left_pitch;
		right += job.right_pitch;
	}

	/** d += part, times the loaded scales. */
	__device__ __forceinline__ void add(float (&d)[tiles::width / 2], const float (&part)[tiles::width / 2]) const
	{
#pragma unroll
		for (int i = 0; i < tiles::width / 2; i++) {
			const int column = tiles::operands == GEMM_E4M3_SPANS ? i / 4 * 2 + i % 2 : 0;
			d[i] = fmaf(part[i], (i % 4 < 2 ? first : second) * of_column[column], d[i]);
		}
	}
};

/** Multiply the steps of one tile; `row`, `column`: as gemm_factors. */
template <class tiles>
SM90_DEVICE void gemm_multiply(const gemm_job &job, float (&d)[tiles::width / 2], int row, int column, uint32_t base,
	uint32_t group, uint32_t *at_stage, uint32_t *at_parity)
{
	const int left_step = tiles::left_across ? SM90_ROWS_STEP : SM90_K_STEP;
	const int right_step = tiles::right_across ? SM90_ROWS_STEP : SM90_K_STEP;
	const uint64_t left = sm90_descriptor(base + group * tiles::panel, tiles::panel);
	const uint64_t right = sm90_descriptor(base + tiles::left, tiles::panel);
	uint32_t stage = *at_stage, parity = *at_parity, before = 0;
	float part[tiles::adds ? tiles::width / 2 : 1];
	[[maybe_unused]] gemm_factors<tiles> factors;
	if constexpr (tiles::by_step)
		factors.begin(job, row, column);
#pragma unroll
	for (int i = 0; tiles::by_step && i < tiles::width / 2; i++)
		d[i] = 0.0f;
	for (int step = 0; step < job.steps; step++) {
		const uint32_t full = base + tiles::barriers + stage * 8, shift = stage * (tiles::stage >> 4);
		if constexpr (tiles::by_step)
			factors.load(job); /* arrives while the step is multiplied */
		sm90_barrier_wait(full, parity);
		sm90_wgmma_fence();
#pragma unroll
		for (int k = 0; k < 4; k++) {
			if constexpr (tiles::adds)
				gemm_mma<tiles>(part, left + shift + k * left_step, right + shift + k * right_step, k);
			else
				gemm_mma<tiles>(d, left + shift + k * left_step, right + shift + k * right_step, step | k);
		}
		sm90_wgmma_commit();
		if constexpr (tiles::adds) {
			sm90_wgmma_wait<0>();
			sm90_pin(part);
			gemm_release<tiles>(full + tiles::stages * 8);
			if constexpr (tiles::by_step) {
				factors.add(d, part);
			} else {
#pragma unroll
				for (int i = 0; i < tiles::width / 2; i++)
					d[i] = step ? d[i] + part[i] : part[i];
			}
		} else {
			sm90_wgmma_wait<1>();
			if (step)
				gemm_release<tiles>(before);
			before = full + tiles::stages * 8;
		}
		if (++stage == tiles::stages) {
			stage = 0;
			parity ^= 1;
		}
	}
	if constexpr (!tiles::adds) {
		sm90_wgmma_wait<0>();
		gemm_release<tiles>(before);
		sm90_pin(d);
	}
	*at_stage = stage;
	*at_parity = parity;
}

/** Store 16 rows of the tile from this warp. */
template <class tiles>
SM90_DEVICE void gemm_store(const gemm_job &job, float (&d)[tiles::width / 2], uint32_t buffers, int row, int column)
{
	const uint32_t lane = threadIdx.x % 32, to_row = lane % 16, swizzle = lane % 8;
	if (row >= job.m)
		return;
#pragma unroll
	for (int p = 0; p < tiles::width / 64; p++) {
		const uint32_t buffer = buffers + (uint32_t)(p % tiles::buffers) * tiles::buffer;
		if (lane == 0)
			sm90_bulk_wait_read<tiles::buffers - 1>();
		__syncwarp();
#pragma unroll
		for (int q = 0; q < 4; q++) {
			const float *c = d + 32 * p + 8 * q;
			sm90_store_matrices<0>(buffer + to_row * 128 + (((2 * q + lane / 16) ^ swizzle) << 4),
				sm80_pack(c[0], c[1]), sm80_pack(c[2], c[3]), sm80_pack(c[4], c[5]), sm80_pack(c[6], c[7]));
		}
		sm90_fence_async();
		__syncwarp();
		if (lane == 0) {
			if (column + 64 * p < job.n)
				cluster_store(&job.out, buffer, column + 64 * p, row);
			sm90_bulk_commit();
		}
	}
}

template <class tiles> SM90_DEVICE void gemm_consume(const gemm_job &job, uint32_t base, uint32_t rank)
{
	const uint32_t group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 - 4;
	const float of_all = tiles::is_scaled ? finish_of_all(job) : 1.0f;
	uint32_t stage = 0, parity = 0, tile_parity = 0;
	for (int t = (int)(blockIdx.x / tiles::cluster); t < job.pairs * job.columns; t += job.clusters) {
		int pair, column;
		float d[tiles::width / 2];
		gemm_place(job, t, &pair, &column);
		const int row = (pair * tiles::cluster + (int)rank) * GEMM_ROWS + (int)warp * 16;
		gemm_multiply<tiles>(job, d, row, column * tiles::width, base, group, &stage, &parity);
		if constexpr (tiles::is_scaled)
			finish_scales<tiles::width>(job, d, of_all, base + tiles::scales, (int)warp * 16, tile_parity);
		if constexpr (tiles::finishes == GEMM_ALL) {
			if (job.bias)
				finish_bias(job, d, column * tiles::width);
			finish_activate(job, d);
		}
		tile_parity ^= 1;
		gemm_store<tiles>(
			job, d, base + tiles::store + warp * tiles::buffers * tiles::buffer, row, column * tiles::width);
	}
	if (threadIdx.x % 32 == 0)
		sm90_bulk_wait<0>();
}
#endif

template <class tiles> __global__ void __launch_bounds__(GEMM_THREADS, 1) gemm_kernel_of(const __grid_constant__ gemm_job job)
{
#ifdef SM90_CODE
	extern __shared__ unsigned char memory[];
	const uint32_t base = (sm80_shared(memory) + 1023) & ~1023u;
	const uint32_t rank = tiles::cluster > 1 ? cluster_rank() : 0;
	if (threadIdx.x == 0) {
		for (int s = 0; s < tiles::stages; s++) {
			sm90_barrier_init(base + tiles::barriers + s * 8, 1);
			sm90_barrier_init(base + tiles::barriers + (tiles::stages + s) * 8, tiles::cluster * tiles::warps);
		}
		if (tiles::is_scaled) {
			sm90_barrier_init(base + tiles::scales + finish_shared<tiles::width>::barriers, 1);
			sm90_barrier_init(base + tiles::scales + finish_shared<tiles::width>::barriers + 8, tiles::warps);
		}
		sm90_barrier_init_done();
		sm90_prefetch_map(&job.left);
		sm90_prefetch_map(&job.right);
		sm90_prefetch_map(&job.out);
	}
	if (tiles::cluster > 1)
		cluster_sync();
	else
		__syncthreads();
	if (threadIdx.x < 128) {
		sm90_registers_give<40>();
		if (threadIdx.x == 0)
			gemm_load<tiles>(job, base, rank);
		if (tiles::is_scaled && threadIdx.x == 32)
			gemm_load_scales<tiles>(job, base, rank);
	} else {
		sm90_registers_take<232>();
		gemm_consume<tiles>(job, base, rank);
	}
	__syncwarp(); /* the loading thread and its warp */
	if (tiles::cluster > 1)
		cluster_sync(); /* before that the other block may still arrive at this block's barriers */
#endif
}

template <class tiles> constexpr struct gemm_kernel gemm_kernel_entry()
{
	return { (enum gemm_operands)tiles::operands, tiles::left_across, tiles::right_across, tiles::width, tiles::stages,
		tiles::cluster, (enum gemm_finishes)tiles::finishes, tiles::shared, (const void *)gemm_kernel_of<tiles> };
}

#endif
