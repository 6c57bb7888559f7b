/**
 * gemm_finish.h - what becomes of sums before they are rounded: scales, bias, activation.
 *
 * Lane 4 g + t of a warp holds rows g and g + 8 of its 16, columns 8 j + 2 t and the next: d[4 j], d[4 j + 1] and d[4 j + 2], d[4 j + 3].
 */
#ifndef LINEAR_HOPPER_GEMM_FINISH_H
#define LINEAR_HOPPER_GEMM_FINISH_H

#include "fw_linear.h"
#include "gemm.h"
#include "hopper/sm90.h"

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

/** Where two neighbouring columns begin that lie inside; beyond the end those of the first pair. */
SM90_DEVICE int finish_columns(const gemm_job &job, int column, int j)
{
	const int c = column + 8 * j + 2 * (int)(threadIdx.x % 4);
	return c < job.n ? c : 0;
}

/** Scales of the rows and of the columns; n is even. `row`, `column`: of the warp's first sum. */
template <int N> SM90_DEVICE void finish_scales(const gemm_job &job, float (&d)[N], int row, int column)
{
	const int first = row + (int)(threadIdx.x % 32) / 4, second = first + 8;
	float of_first = 1.0f, of_second = 1.0f;
	if (job.left_scale) {
		of_first = job.left_scale[min(first, job.m - 1) * job.left_step];
		of_second = job.left_scale[min(second, job.m - 1) * job.left_step];
	}
	if (!job.right_step) {
		const float of_all = job.right_scale ? job.right_scale[0] : 1.0f;
		of_first *= of_all;
		of_second *= of_all;
	}
#pragma unroll
	for (int j = 0; j < N / 4; j++) {
		float2 scale = make_float2(1.0f, 1.0f);
		if (job.right_step)
			scale = __ldg((const float2 *)(job.right_scale + finish_columns(job, column, j)));
		d[4 * j] *= of_first * scale.x;
		d[4 * j + 1] *= of_first * scale.y;
		d[4 * j + 2] *= of_second * scale.x;
		d[4 * j + 3] *= of_second * scale.y;
	}
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

template <int FINISHES, int N> SM90_DEVICE void gemm_finish(const gemm_job &job, float (&d)[N], int row, int column)
{
	if (FINISHES == GEMM_PLAIN)
		return;
	finish_scales(job, d, row, column);
	if (FINISHES == GEMM_SCALES)
		return;
	if (job.bias)
		finish_bias(job, d, column);
	finish_activate(job, d);
}
#endif

#endif
