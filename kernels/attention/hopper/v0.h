/**
 * v0.h - declarations shared by the files of provider "hopper.v0": attention on the CUDA cores, all arithmetic in fp32.
 * A thread block is 16 x 16 threads. Each thread holds four rows and four columns of a 64 x 64 tile of scores, and four rows and
 * two or one times four columns of a 64 x D tile of results. The sixteen threads of a row are half a warp, so that the maximum of
 * a row is four shuffles. Tiles of shared memory are fp32 with four floats of padding per row, so that eight neighbouring rows
 * read as float4 touch every bank once.
 */
#ifndef ATTENTION_HOPPER_V0_H
#define ATTENTION_HOPPER_V0_H

#include "stage.h"

#include <cuda_bf16.h>

#define V0_DEVICE static __device__ __forceinline__

enum { V0_THREADS = 256, V0_SCORE_ROW = JOB_STEP + 4 }; /* floats per row of scores in shared memory */

/** Floats per row of a tile in shared memory. */
JOB_HD constexpr int v0_row(int headdim)
{
	return headdim + 4;
}

/**
 * Load a tile of 64 tokens of one head into shared memory, widened to fp32. Tokens from `end` on become zeros. Called by all
 * threads.
 */
template <int D> V0_DEVICE void v0_load(float *to, const struct tensor &from, int head, int first, int end)
{
	const int chunks = D / 8;
	for (int i = threadIdx.x; i < JOB_STEP * chunks; i += V0_THREADS) {
		const int row = i / chunks, chunk = i % chunks;
		uint4 bits = make_uint4(0, 0, 0, 0);
		if (first + row < end)
			bits = *(const uint4 *)((const __nv_bfloat16 *)from.data + (first + row) * from.token + head * from.head +
						chunk * 8);
		float4 *out = (float4 *)(to + row * v0_row(D) + chunk * 8);
		out[0] = make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000u),
			__uint_as_float(bits.y << 16), __uint_as_float(bits.y & 0xffff0000u));
		out[1] = make_float4(__uint_as_float(bits.z << 16), __uint_as_float(bits.z & 0xffff0000u),
			__uint_as_float(bits.w << 16), __uint_as_float(bits.w & 0xffff0000u));
	}
}

/** s[i][j] = row 4 y + i of `a` times row x + 16 j of `b`. */
template <int D> V0_DEVICE void v0_scores(float s[4][4], const float *a, const float *b)
{
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;
	for (int i = 0; i < 16; i++)
		s[i / 4][i % 4] = 0.0f;
	for (int d = 0; d < D; d += 4) {
		float4 left[4], right[4];
		for (int i = 0; i < 4; i++) {
			left[i] = *(const float4 *)(a + (4 * y + i) * v0_row(D) + d);
			right[i] = *(const float4 *)(b + (x + 16 * i) * v0_row(D) + d);
		}
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				s[i][j] += left[i].x * right[j].x + left[i].y * right[j].y + left[i].z * right[j].z +
					   left[i].w * right[j].w;
	}
}

/** c[i] += row 4 y + i of `scores` times the tile: columns 4 x to 4 x + 3 of each panel of 64. */
template <int D> V0_DEVICE void v0_add_product(float4 c[4][D / 64], const float *scores, const float *tile)
{
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;
	for (int k = 0; k < JOB_STEP; k++) {
		for (int n = 0; n < D / 64; n++) {
			const float4 v = *(const float4 *)(tile + k * v0_row(D) + 64 * n + 4 * x);
			for (int i = 0; i < 4; i++) {
				const float p = scores[(4 * y + i) * V0_SCORE_ROW + k];
				c[i][n].x += p * v.x;
				c[i][n].y += p * v.y;
				c[i][n].z += p * v.z;
				c[i][n].w += p * v.w;
			}
		}
	}
}

/** As v0_add_product with `scores` transposed: its column 4 y + i. */
template <int D> V0_DEVICE void v0_add_transposed(float4 c[4][D / 64], const float *scores, const float *tile)
{
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;
	for (int k = 0; k < JOB_STEP; k++) {
		const float4 p4 = *(const float4 *)(scores + k * V0_SCORE_ROW + 4 * y);
		const float p[4] = { p4.x, p4.y, p4.z, p4.w };
		for (int n = 0; n < D / 64; n++) {
			const float4 v = *(const float4 *)(tile + k * v0_row(D) + 64 * n + 4 * x);
			for (int i = 0; i < 4; i++) {
				c[i][n].x += p[i] * v.x;
				c[i][n].y += p[i] * v.y;
				c[i][n].z += p[i] * v.z;
				c[i][n].w += p[i] * v.w;
			}
		}
	}
}

/** Store this thread's elements of s to the tile of scores. */
V0_DEVICE void v0_store_scores(float *to, const float s[4][4])
{
	const int x = threadIdx.x % 16, y = threadIdx.x / 16;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			to[(4 * y + i) * V0_SCORE_ROW + x + 16 * j] = s[i][j];
}

/** Store four columns of a row of O, dK or dV, times `factor`, rounded to bf16. */
V0_DEVICE void v0_store_row(const struct tensor &to, int head, int token, int column, float4 v, float factor)
{
	__nv_bfloat162 *out = (__nv_bfloat162 *)((__nv_bfloat16 *)to.data + (int64_t)token * to.token + head * to.head + column);
	out[0] = __floats2bfloat162_rn(v.x * factor, v.y * factor);
	out[1] = __floats2bfloat162_rn(v.z * factor, v.w * factor);
}

/** First inner token of a step. */
V0_DEVICE int v0_token_of_step(const struct job &job, int inner, int step)
{
	if (!job.block)
		return inner + step * JOB_STEP;
	const int parts = job.block / JOB_STEP;
	return job.list[~inner + step / parts] * job.block + step % parts * JOB_STEP;
}

extern const struct main_kernel v0_forward, v0_backward;

#endif
