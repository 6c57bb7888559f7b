/**
 * vector.h - operations on 16 bytes of a row at a time, and reductions over the threads of a row.
 */
#ifndef LINEAR_QUANTISE_VECTOR_H
#define LINEAR_QUANTISE_VECTOR_H

#include "quantise.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define QUANTISE_DEVICE static __device__ __forceinline__

enum { VALUES = 8, ROW_VECTORS = 8, ROW_THREADS = 256 }; /* VALUES: elements in a vector of 16 bytes */

template <int KIND> QUANTISE_DEVICE float quantise_scale(float amax, int power_of_two)
{
	const float s = __fdiv_rn(amax, KIND == QUANTISE_I8 ? 127.5f : KIND == QUANTISE_E5M2 ? 57344.0f : 448.0f);
	if (s == 0.0f)
		return 1.0f;
	if (!power_of_two)
		return s;
	const uint32_t bits = __float_as_uint(s);
	return __uint_as_float(bits & 0x7fffff ? (bits & 0x7f800000) + 0x800000 : bits);
}

QUANTISE_DEVICE float quantise_divide(float x, float s, float reciprocal)
{
	const float q = x * reciprocal;
	return fmaf(fmaf(-q, s, x), reciprocal, q);
}

QUANTISE_DEVICE float quantise_low(uint32_t pair)
{
	return __uint_as_float(pair << 16);
}

QUANTISE_DEVICE float quantise_high(uint32_t pair)
{
	return __uint_as_float(pair & 0xffff0000);
}

/** Round two values to 8-bit floats, the first in the lower byte. */
template <int KIND> QUANTISE_DEVICE uint32_t quantise_two(float low, float high)
{
	uint16_t packed = 0;
#if __CUDA_ARCH__ >= 890
	if (KIND == QUANTISE_E5M2)
		asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
	else
		asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
#endif
	return packed;
}

/** Quantise two adjacent values, the first in the lower byte. */
template <int KIND> QUANTISE_DEVICE uint32_t quantise_pair(uint32_t pair, float s, float reciprocal)
{
	const float low = quantise_divide(quantise_low(pair), s, reciprocal);
	const float high = quantise_divide(quantise_high(pair), s, reciprocal);
	if (KIND == QUANTISE_I8) {
		const int a = max(-128, min(127, __float2int_rn(low))), b = max(-128, min(127, __float2int_rn(high)));
		return (uint32_t)(a & 0xff) | (uint32_t)(b & 0xff) << 8;
	}
	return quantise_two<KIND>(low, high);
}

/** Convert two e4m3 to two bf16. */
QUANTISE_DEVICE uint32_t quantise_widened(uint32_t pair)
{
	uint32_t widened = 0;
#if __CUDA_ARCH__ >= 890
	uint32_t halves;
	asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)pair));
	const float2 both = __half22float2(*(const __half2 *)&halves);
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(widened) : "f"(both.y), "f"(both.x));
#endif
	return widened;
}

/** Quantise a vector: to eight bytes, or to eight bf16. */
template <int KIND> struct quantise_made {
	typedef uint2 vector;

	static __device__ __forceinline__ vector of(uint4 v, float s, float reciprocal)
	{
		return make_uint2(quantise_pair<KIND>(v.x, s, reciprocal) | quantise_pair<KIND>(v.y, s, reciprocal) << 16,
			quantise_pair<KIND>(v.z, s, reciprocal) | quantise_pair<KIND>(v.w, s, reciprocal) << 16);
	}
};

template <> struct quantise_made<QUANTISE_E4M3_IN_BF16> {
	typedef uint4 vector;

	static __device__ __forceinline__ vector of(uint4 v, float s, float reciprocal)
	{
		const uint2 bytes = quantise_made<QUANTISE_E4M3>::of(v, s, reciprocal);
		return make_uint4(quantise_widened(bytes.x), quantise_widened(bytes.x >> 16), quantise_widened(bytes.y),
			quantise_widened(bytes.y >> 16));
	}
};

/** If launched so, the next kernel of the stream may start its work that does not depend on this one. */
QUANTISE_DEVICE void quantise_let_next(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

QUANTISE_DEVICE float quantise_largest(float amax, uint32_t pair)
{
	return fmaxf(amax, fmaxf(fabsf(quantise_low(pair)), fabsf(quantise_high(pair))));
}

QUANTISE_DEVICE float quantise_largest(float amax, uint4 v)
{
	return quantise_largest(quantise_largest(quantise_largest(quantise_largest(amax, v.x), v.y), v.z), v.w);
}

QUANTISE_DEVICE float quantise_of_warp(float amax)
{
	for (int other = 16; other > 0; other /= 2)
		amax = fmaxf(amax, __shfl_xor_sync(~0u, amax, other));
	return amax;
}

/** Maximum over the block, in every thread. */
QUANTISE_DEVICE float quantise_of_block(float amax)
{
	__shared__ float of_warp[32];
	const int warps = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	amax = quantise_of_warp(amax);
	__syncthreads();
	if (lane == 0)
		of_warp[warp] = amax;
	__syncthreads();
	return quantise_of_warp(lane < warps ? of_warp[lane] : 0.0f);
}

#endif
