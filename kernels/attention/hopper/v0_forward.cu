/**
 * v0_forward.cu - forward of provider "hopper.v0": online softmax over 64-key steps on the CUDA cores.
 * The reference stage: all arithmetic is fp32, loads do not overlap with arithmetic. A thread block owns 64 queries of one head.
 * Q stays in shared memory; K and then V of a step use the same buffer.
 *
 *     O[first + row][head][column] += P[row][j] V[key + j][head / group][column]
 *
 * Thread (x, y) of 16 x 16: row = 4 y + i, column = 64 n + 4 x + e, accumulator out[i][n], element e.
 */
#include "hopper/launch.h"
#include "v0.h"

#include <math_constants.h>

/* Maximum, or sum, over the sixteen threads of a row. */
V0_DEVICE float row_max(float v)
{
	for (int lanes = 8; lanes > 0; lanes /= 2)
		v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, lanes));
	return v;
}

V0_DEVICE float row_sum(float v)
{
	for (int lanes = 8; lanes > 0; lanes /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, lanes);
	return v;
}

template <int D> static __global__ void __launch_bounds__(V0_THREADS) v0_forward_kernel(const __grid_constant__ struct job job)
{
	extern __shared__ __align__(16) float memory[];
	float *const q = memory, *const kv = q + JOB_STEP * v0_row(D), *const scores = kv + JOB_STEP * v0_row(D);
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;

	struct place place;
	if (!job_place(&job, job.group, blockIdx.x, &place))
		return;
	const struct tile tile = job.tiles[(job.block ? place.kv_head * job.n_tiles : 0) + place.tile];
	if (tile.first < 0)
		return;
	const int head = place.kv_head * job.group + place.unit;

	float4 out[4][D / 64];
	float top[4], sum[4];
	for (int i = 0; i < 4; i++) {
		for (int n = 0; n < D / 64; n++)
			out[i][n] = make_float4(0, 0, 0, 0);
		top[i] = -CUDART_INF_F;
		sum[i] = 0.0f;
	}
	v0_load<D>(q, job.q, head, tile.first, tile.end);

	for (int step = 0; step < tile.steps; step++) {
		const int key = v0_token_of_step(job, tile.inner, step);
		__syncthreads(); /* the previous step has read V */
		v0_load<D>(kv, job.k, place.kv_head, key, tile.inner_end);
		__syncthreads();
		float s[4][4];
		v0_scores<D>(s, q, kv);
		__syncthreads();
		v0_load<D>(kv, job.v, place.kv_head, key, tile.inner_end);

		for (int i = 0; i < 4; i++) {
			const int last = min(tile.inner_end - 1, tile.first + 4 * y + i + tile.diagonal) - key;
			float largest = top[i];
			for (int j = 0; j < 4; j++) {
				s[i][j] = x + 16 * j > last ? -CUDART_INF_F : s[i][j] * job.scale_log2;
				largest = fmaxf(largest, s[i][j]);
			}
			largest = row_max(largest);
			const float shift = largest == -CUDART_INF_F ? 0.0f : largest; /* no key yet: exp2(-inf) = 0, not NaN */
			const float shrink = exp2f(top[i] - shift);
			top[i] = largest;
			sum[i] *= shrink;
			for (int j = 0; j < 4; j++) {
				s[i][j] = exp2f(s[i][j] - shift);
				sum[i] += s[i][j];
			}
			for (int n = 0; n < D / 64; n++) {
				out[i][n].x *= shrink;
				out[i][n].y *= shrink;
				out[i][n].z *= shrink;
				out[i][n].w *= shrink;
			}
		}
		v0_store_scores(scores, s);
		__syncthreads();
		v0_add_product<D>(out, scores, kv);
	}

	for (int i = 0; i < 4; i++) {
		const int token = tile.first + 4 * y + i;
		const float total = row_sum(sum[i]), inverse = total > 0.0f ? 1.0f / total : 0.0f;
		if (token >= tile.end)
			continue;
		for (int n = 0; n < D / 64; n++)
			v0_store_row(job.o, head, token, 64 * n + 4 * x, out[i][n], inverse);
		if (x == 0) /* ln 2 converts the base-2 maximum to a natural one */
			job.lse[head * job.lse_head + token] =
				total > 0.0f ? top[i] * 0.6931471805599453f + logf(total) : -CUDART_INF_F;
	}
}

static const void *kernel_of(const struct job *job)
{
	return job->headdim == 64 ? (const void *)v0_forward_kernel<64> : (const void *)v0_forward_kernel<128>;
}

static int shared(const struct job *job)
{
	return (2 * JOB_STEP * v0_row(job->headdim) + JOB_STEP * V0_SCORE_ROW) * (int)sizeof(float);
}

static cudaError_t setup(const struct job *job)
{
	return launch_allow(kernel_of(job), shared(job));
}

static cudaError_t run(const struct job *job, cudaStream_t stream)
{
	return launch(kernel_of(job), job_items(job, job->group), V0_THREADS, shared(job), job, stream);
}

const struct main_kernel v0_forward = { shared, setup, run };
