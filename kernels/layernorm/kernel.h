/*
 * kernel.h - kernels of layer normalisation on a GPU. A row is held in its threads' registers, eight bf16 per load. With few
 * rows, forward's blocks are persistent: GAMMA and BETA stay in registers, and the next row is loaded while this one is summed.
 * With many rows there is a block per row, as many resident blocks as fit. Backward is persistent, with the sums of columns in
 * registers.
 */
#ifndef LAYERNORM_KERNEL_H
#define LAYERNORM_KERNEL_H

#include <cuda_runtime.h>

#include <stdint.h>

enum { THREADS_MAX = 512, VECTOR = 8, VECTORS_MAX = 8, WALK_VECTORS_MAX = 4, COLUMNS_A_BLOCK = 32 };

struct job {
	const uint4 *x, *gamma, *beta, *dy;
	uint4 *y, *dx;
	float *mean, *rstd, *partial;
	int rows, vectors, parts;
	float epsilon;
};

static __device__ __forceinline__ float low(uint32_t w)
{
	return __uint_as_float(w << 16);
}

static __device__ __forceinline__ float high(uint32_t w)
{
	return __uint_as_float(w & 0xffff0000u);
}

static __device__ __forceinline__ void widen(uint4 v, float out[VECTOR])
{
	const uint32_t w[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
	for (int i = 0; i < 4; i++) {
		out[2 * i] = low(w[i]);
		out[2 * i + 1] = high(w[i]);
	}
}

static __device__ __forceinline__ uint32_t rounded(float first, float second)
{
	uint32_t pair;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
	return pair;
}

static __device__ __forceinline__ uint4 narrow(const float v[VECTOR])
{
	return make_uint4(rounded(v[0], v[1]), rounded(v[2], v[3]), rounded(v[4], v[5]), rounded(v[6], v[7]));
}

/* Sums over the block, returned to all threads. `shared` has an element per warp; two consecutive calls need different arrays. */
template <int VALUES>
static __device__ __forceinline__ void block_sum(float (&v)[VALUES], float (&shared)[THREADS_MAX / 32][VALUES])
{
#pragma unroll
	for (int i = 0; i < VALUES; i++)
#pragma unroll
		for (int lane = 16; lane > 0; lane /= 2)
			v[i] += __shfl_xor_sync(0xffffffffu, v[i], lane);
	if (blockDim.x == 32)
		return;
	if (threadIdx.x % 32 == 0)
#pragma unroll
		for (int i = 0; i < VALUES; i++)
			shared[threadIdx.x / 32][i] = v[i];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < VALUES; i++)
		v[i] = 0;
	for (int warp = 0; warp < (int)blockDim.x / 32; warp++)
#pragma unroll
		for (int i = 0; i < VALUES; i++)
			v[i] += shared[warp][i];
}

template <int N> static __device__ __forceinline__ void load(const uint4 *from, int vectors, uint4 out[N])
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		const int at = threadIdx.x + i * blockDim.x;
		out[i] = at < vectors ? from[at] : make_uint4(0, 0, 0, 0);
	}
}

/* A persistent block preloads its slice of GAMMA and BETA; a block of one row reads them when it needs them. */
template <int N, bool WALKS>
static __global__ void __launch_bounds__(THREADS_MAX, WALKS || N == VECTORS_MAX ? 1 : 2) forward(job j)
{
	constexpr int kept = WALKS ? N : 1;
	__shared__ float sums[2][THREADS_MAX / 32][1];
	const float n = (float)(j.vectors * VECTOR);
	uint4 gamma[kept], beta[kept], next[N];
	if (WALKS) {
		load<kept>(j.gamma, j.vectors, gamma);
		load<kept>(j.beta, j.vectors, beta);
	}
	load<N>(j.x + (int64_t)blockIdx.x * j.vectors, j.vectors, next);
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x) {
		uint4 x[N];
		float sum[1] = {}, squares[1] = {};
#pragma unroll
		for (int i = 0; i < N; i++)
			x[i] = next[i];
		if (WALKS && row + gridDim.x < j.rows)
			load<N>(j.x + (row + gridDim.x) * j.vectors, j.vectors, next);
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR];
			widen(x[i], v);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				sum[0] += v[k];
		}
		block_sum(sum, sums[0]);
		const float mean = sum[0] / n;
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR];
			widen(x[i], v);
			if ((int)(threadIdx.x + i * blockDim.x) < j.vectors) {
#pragma unroll
				for (int k = 0; k < VECTOR; k++)
					squares[0] += (v[k] - mean) * (v[k] - mean);
			}
		}
		block_sum(squares, sums[1]);
		const float rstd = 1.0f / sqrtf(squares[0] / n + j.epsilon);
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = threadIdx.x + i * blockDim.x;
			float v[VECTOR], g[VECTOR], b[VECTOR];
			if (at >= j.vectors)
				continue;
			widen(x[i], v);
			widen(WALKS ? gamma[i % kept] : j.gamma[at], g);
			widen(WALKS ? beta[i % kept] : j.beta[at], b);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				v[k] = (v[k] - mean) * rstd * g[k] + b[k];
			j.y[row * j.vectors + at] = narrow(v);
		}
		if (threadIdx.x == 0) {
			j.mean[row] = mean;
			j.rstd[row] = rstd;
		}
	}
}

template <int N> static __global__ void __launch_bounds__(THREADS_MAX) backward(job j)
{
	__shared__ float sums[2][THREADS_MAX / 32][2];
	const float n = (float)(j.vectors * VECTOR);
	float dgamma[N][VECTOR] = {}, dbeta[N][VECTOR] = {};
	uint4 next_x[N], next_dy[N];
	int turn = 0;
	load<N>(j.x + (int64_t)blockIdx.x * j.vectors, j.vectors, next_x);
	load<N>(j.dy + (int64_t)blockIdx.x * j.vectors, j.vectors, next_dy);
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x, turn ^= 1) {
		uint4 x[N], dy[N], gamma[N];
		float sum[2] = {};
		const float mean = j.mean[row], rstd = j.rstd[row];
#pragma unroll
		for (int i = 0; i < N; i++) {
			x[i] = next_x[i];
			dy[i] = next_dy[i];
		}
		if (row + gridDim.x < j.rows) {
			load<N>(j.x + (row + gridDim.x) * j.vectors, j.vectors, next_x);
			load<N>(j.dy + (row + gridDim.x) * j.vectors, j.vectors, next_dy);
		}
		load<N>(j.gamma, j.vectors, gamma);
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR], d[VECTOR], g[VECTOR];
			widen(x[i], v);
			widen(dy[i], d);
			widen(gamma[i], g);
#pragma unroll
			for (int k = 0; k < VECTOR; k++) {
				const float normal = (v[k] - mean) * rstd; /* dY is 0 in columns beyond the end */
				dgamma[i][k] += d[k] * normal;
				dbeta[i][k] += d[k];
				sum[0] += d[k] * g[k];
				sum[1] += d[k] * g[k] * normal;
			}
		}
		block_sum(sum, sums[turn]);
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = threadIdx.x + i * blockDim.x;
			float v[VECTOR], d[VECTOR], g[VECTOR];
			widen(x[i], v);
			widen(dy[i], d);
			widen(gamma[i], g);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				v[k] = rstd * (d[k] * g[k] - sum[0] / n - (v[k] - mean) * rstd * (sum[1] / n));
			if (at < j.vectors)
				j.dx[row * j.vectors + at] = narrow(v);
		}
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		const int at = threadIdx.x + i * blockDim.x;
		for (int k = 0; k < VECTOR && at < j.vectors; k++) {
			j.partial[((int64_t)blockIdx.x * j.vectors + at) * VECTOR + k] = dgamma[i][k];
			j.partial[(((int64_t)j.parts + blockIdx.x) * j.vectors + at) * VECTOR + k] = dbeta[i][k];
		}
	}
}

/* Block y: 0 DGAMMA, 1 DBETA. Each warp reads the same columns of every 32nd partial sum; then a warp sums one column. */
static __global__ void __launch_bounds__(1024) columns(const float *partial, int parts, int n, uint16_t *dgamma, uint16_t *dbeta)
{
	__shared__ float sums[32][COLUMNS_A_BLOCK + 1];
	const int lane = threadIdx.x, warp = threadIdx.y, column = blockIdx.x * COLUMNS_A_BLOCK + lane;
	float sum = 0;
#pragma unroll 4
	for (int part = warp; part < parts; part += 32)
		sum += column < n ? partial[((int64_t)blockIdx.y * parts + part) * n + column] : 0.0f;
	sums[warp][lane] = sum;
	__syncthreads();
	sum = sums[lane][warp];
#pragma unroll
	for (int lanes = 16; lanes > 0; lanes /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
	const int own = blockIdx.x * COLUMNS_A_BLOCK + warp;
	if (lane == 0 && own < n)
		(blockIdx.y == 0 ? dgamma : dbeta)[own] = (uint16_t)rounded(sum, sum);
}

#endif
