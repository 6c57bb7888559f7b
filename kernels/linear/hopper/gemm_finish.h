/**
 * gemm_finish.h - epilogue of a product, before sums are rounded: scales, bias, activation.
 *
 * Lane 4 g + t of a warp holds rows g and g + 8 of its 16, columns 8 j + 2 t and the next: d[4 j], d[4 j + 1] and d[4 j + 2], d[4 j + 3].
 */
#ifndef LINEAR_HOPPER_GEMM_FINISH_H
#define LINEAR_HOPPER_GEMM_FINISH_H

#include "fw_linear.h"
#include "gemm.h"
#include "hopper/sm90.h"

/** Scales of a tile in shared memory, loaded by a separate thread while the tile is multiplied. Units: bytes. */
template <int WIDTH> struct finish_shared {
	static const int columns = 0, rows = WIDTH * 4, barriers = rows + GEMM_ROWS * 4, bytes = barriers + 16; /* full, empty */
};

#ifdef SM90_CODE
SM90_DEVICE float finish_sigmoid(float x)
{
	return __fdividef(1.0f, 1.0f + __expf(-x));
}

template <int ACTIVATION> SM90_DEVICE float finish_activation(float x)
{
	if (ACTIVATION == FW_LINEAR_RELU)
		return fmaxf(x, 0.0f);
	if (ACTIVATION == FW_LINEAR_SIGMOID)
		return finish_sigmoid(x);
	if (ACTIVATION == FW_LINEAR_LEAKYRELU)
		return x > 0.0f ? x : 0.01f * x;
	if (ACTIVATION == FW_LINEAR_RELU6)
		return fminf(fmaxf(x, 0.0f), 6.0f);
	if (ACTIVATION == FW_LINEAR_GELU)
		return 0.5f * x * (1.0f + erff(x * 0.70710678f));
	if (ACTIVATION == FW_LINEAR_SILU)
		return x * finish_sigmoid(x);
	if (ACTIVATION == FW_LINEAR_HARDSWISH)
		return x * fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
	return x;
}

template <int ACTIVATION, int N> SM90_DEVICE void finish_all(float (&d)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		d[i] = finish_activation<ACTIVATION>(d[i]);
}

/** First of two adjacent columns that are inside the matrix; beyond the end column 0, so that loads stay valid. */
SM90_DEVICE int finish_columns(const gemm_job &job, int column, int j)
{
	const int c = column + 8 * j + 2 * (int)(threadIdx.x % 4);
	return c < job.n ? c : 0;
}

SM90_DEVICE float finish_load_shared(uint32_t address)
{
	float r;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(r) : "r"(address) : "memory");
	return r;
}

/** Called by the loading thread, for one tile. `at`: address of the block's finish_shared. `parity`: of the tile. */
template <int WIDTH> SM90_DEVICE void finish_load(const gemm_job &job, uint32_t at, int row, int column, uint32_t parity)
{
	typedef struct finish_shared<WIDTH> shared;
	const uint32_t full = at + shared::barriers, empty = full + 8;
	const uint32_t rows = job.left_step && row < job.m ? (uint32_t)(min((int)GEMM_ROWS, job.m - row) + 3) / 4 * 16 : 0;
	const uint32_t columns = job.right_step ? (uint32_t)min(WIDTH, job.n - column) * 4 : 0;
	sm90_barrier_wait(empty, parity ^ 1);
	sm90_barrier_expect(full, rows + columns);
	if (rows)
		sm90_load_flat(at + shared::rows, job.left_scale + row, rows, full);
	if (columns)
		sm90_load_flat(at + shared::columns, job.right_scale + column, columns, full);
}

/** The product of the scales that are one for all rows; 1 without one. */
SM90_DEVICE float finish_of_all(const gemm_job &job)
{
	const float left = job.left_scale && !job.left_step ? job.left_scale[0] : 1.0f;
	return job.right_scale && !job.right_step ? left * job.right_scale[0] : left;
}

/**
 * Multiply by the scales of rows and columns. `of_all`: result of finish_of_all; `row`: row of the warp's first sum in the tile;
 * n is even.
 */
template <int WIDTH>
SM90_DEVICE void finish_scales(const gemm_job &job, float (&d)[WIDTH / 2], float of_all, uint32_t at, int row, uint32_t parity)
{
	typedef struct finish_shared<WIDTH> shared;
	const int lane = (int)(threadIdx.x % 32);
	float first = of_all, second = of_all;
	sm90_barrier_wait(at + shared::barriers, parity);
	if (job.left_step) {
		first *= finish_load_shared(at + shared::rows + (uint32_t)(row + lane / 4) * 4);
		second *= finish_load_shared(at + shared::rows + (uint32_t)(row + lane / 4 + 8) * 4);
	}
#pragma unroll
	for (int j = 0; j < WIDTH / 8; j++) {
		float2 scale = make_float2(1.0f, 1.0f);
		if (job.right_step)
			scale = sm80_load_shared_pair(at + shared::columns + (uint32_t)(8 * j + 2 * (lane % 4)) * 4);
		d[4 * j] *= first * scale.x;
		d[4 * j + 1] *= first * scale.y;
		d[4 * j + 2] *= second * scale.x;
		d[4 * j + 3] *= second * scale.y;
	}
	__syncwarp();
	if (lane == 0)
		sm90_barrier_arrive(at + shared::barriers + 8);
}

template <int N> SM90_DEVICE void finish_bias(const gemm_job &job, float (&d)[N], int column)
{
#pragma unroll
	for (int j = 0; j < N / 4; j++) {
		const float2 bias = __bfloat1622float2(*(const __nv_bfloat162 *)(job.bias + finish_columns(job, column, j)));
		d[4 * j] += bias.x;
		d[4 * j + 1] += bias.y;
		d[4 * j + 2] += bias.x;
		d[4 * j + 3] += bias.y;
	}
}

template <int N> SM90_DEVICE void finish_activate(const gemm_job &job, float (&d)[N])
{
	switch (job.activation) {
	case FW_LINEAR_RELU:
		return finish_all<FW_LINEAR_RELU>(d);
	case FW_LINEAR_SIGMOID:
		return finish_all<FW_LINEAR_SIGMOID>(d);
	case FW_LINEAR_LEAKYRELU:
		return finish_all<FW_LINEAR_LEAKYRELU>(d);
	case FW_LINEAR_RELU6:
		return finish_all<FW_LINEAR_RELU6>(d);
	case FW_LINEAR_GELU:
		return finish_all<FW_LINEAR_GELU>(d);
	case FW_LINEAR_SILU:
		return finish_all<FW_LINEAR_SILU>(d);
	case FW_LINEAR_HARDSWISH:
		return finish_all<FW_LINEAR_HARDSWISH>(d);
	default:
		return;
	}
}
#endif

#endif
