/**
 * v0_backward.cu - backward of provider "hopper.v0" on the CUDA cores.
 * The reference stage: all arithmetic is fp32, loads do not overlap with arithmetic. A thread block owns 64 keys of one key head.
 * For every query head of the group it traverses the steps of 64 queries that see them, so that dK and dV stay in registers and
 * are bitwise reproducible. dQ is added to the fp32 sum that rows_cast reads. P and then dS of a step use the same tile of
 * scores.
 *
 *     dK[first + row][kv_head][column] += dS[j][row] Q[query + j][head][column]
 *
 * Thread (x, y) of 16 x 16: row = 4 y + i, column = 64 n + 4 x + e, accumulator grad_k[i][n], element e.
 */
#include "hopper/launch.h"
#include "v0.h"

#include <math_constants.h>

/*
 * Add 64 queries x D to their slot of the sum, in the order of sum_fragment; the order of additions from several thread blocks is
 * undefined.
 */
template <int D> V0_DEVICE void add_grad_q(float *slot, const float4 grad_q[4][D / 64])
{
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;
	for (int i = 0; i < 4; i++) {
		const int row = 4 * y + i;
		for (int n = 0; n < D / 64; n++) {
			const int column = 64 * n + 4 * x;
			float *first =
				slot + sum_fragment(D, row / 16, column / 8, row % 8 * 4 + column % 8 / 2) + row % 16 / 8 * 2;
			float *second = first + sum_fragment(D, 0, 0, 1); /* columns 2, 3 belong to the next lane */
			atomicAdd(first, grad_q[i][n].x);
			atomicAdd(first + 1, grad_q[i][n].y);
			atomicAdd(second, grad_q[i][n].z);
			atomicAdd(second + 1, grad_q[i][n].w);
		}
	}
}

template <int D> V0_DEVICE void clear(float4 c[4][D / 64])
{
	for (int i = 0; i < 4; i++)
		for (int n = 0; n < D / 64; n++)
			c[i][n] = make_float4(0, 0, 0, 0);
}

template <int D> static __global__ void __launch_bounds__(V0_THREADS) v0_backward_kernel(const __grid_constant__ struct job job)
{
	extern __shared__ __align__(16) float memory[];
	const int tile_floats = JOB_STEP * v0_row(D);
	float *const k = memory, *const v = k + tile_floats, *const q = v + tile_floats, *const grad_o = q + tile_floats,
		     *const scores = grad_o + tile_floats;
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;

	struct place place;
	if (!job_place(&job, 1, blockIdx.x, &place))
		return;
	const struct tile tile = job.tiles[(job.block ? place.kv_head * job.n_tiles : 0) + place.tile];
	if (tile.first < 0)
		return;
	const int slot_bias = job.block ? 0 : tile.slot * JOB_STEP - tile.inner; /* slot = (query + slot_bias) / 64 */

	float4 grad_k[4][D / 64], grad_v[4][D / 64];
	clear<D>(grad_k);
	clear<D>(grad_v);
	v0_load<D>(k, job.k, place.kv_head, tile.first, tile.end);
	v0_load<D>(v, job.v, place.kv_head, tile.first, tile.end);

	for (int i = 0; i < job.group * tile.steps; i++) {
		const int head = place.kv_head * job.group + i / tile.steps;
		const int query = v0_token_of_step(job, tile.inner, i % tile.steps);
		const int64_t slot = (int64_t)head * job.n_slots + (query + slot_bias) / JOB_STEP;
		__syncthreads(); /* the previous step has read everything */
		v0_load<D>(q, job.q, head, query, tile.inner_end);
		v0_load<D>(grad_o, job.grad_o, head, query, tile.inner_end);
		__syncthreads();

		float p[4][4], ds[4][4];
		v0_scores<D>(p, q, k);
		v0_scores<D>(ds, grad_o, v);
		for (int r = 0; r < 4; r++) {
			const float2 stat = job.row_stats[slot * JOB_STEP + 4 * y + r]; /* LSE * log2(e), rowsum(dO * O) */
			const int last = min(tile.end - 1, query + 4 * y + r + tile.diagonal) - tile.first;
			for (int j = 0; j < 4; j++) {
				p[r][j] = x + 16 * j > last ? 0.0f : exp2f(p[r][j] * job.scale_log2 - stat.x);
				ds[r][j] = p[r][j] * (ds[r][j] - stat.y);
			}
		}
		v0_store_scores(scores, p);
		__syncthreads();
		v0_add_transposed<D>(grad_v, scores, grad_o);
		__syncthreads();
		v0_store_scores(scores, ds);
		__syncthreads();
		v0_add_transposed<D>(grad_k, scores, q);
		float4 grad_q[4][D / 64];
		clear<D>(grad_q);
		v0_add_product<D>(grad_q, scores, k);
		add_grad_q<D>(job.grad_q_sum + slot * (JOB_STEP * D), grad_q);
	}

	for (int i = 0; i < 4; i++) {
		const int key = tile.first + 4 * y + i;
		if (key >= tile.end)
			continue;
		for (int n = 0; n < D / 64; n++) {
			v0_store_row(job.grad_k, place.kv_head, key, 64 * n + 4 * x, grad_k[i][n], job.scale);
			v0_store_row(job.grad_v, place.kv_head, key, 64 * n + 4 * x, grad_v[i][n], 1.0f);
		}
	}
}

static const void *kernel_of(const struct job *job)
{
	return job->headdim == 64 ? (const void *)v0_backward_kernel<64> : (const void *)v0_backward_kernel<128>;
}

static int shared(const struct job *job)
{
	return (4 * JOB_STEP * v0_row(job->headdim) + JOB_STEP * V0_SCORE_ROW) * (int)sizeof(float);
}

static cudaError_t setup(const struct job *job)
{
	return launch_allow(kernel_of(job), shared(job));
}

static cudaError_t run(const struct job *job, cudaStream_t stream)
{
	return launch(kernel_of(job), job_items(job, 1), V0_THREADS, shared(job), job, stream);
}

const struct main_kernel v0_backward = { shared, setup, run };
