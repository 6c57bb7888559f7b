/**
 * weight.cu - weights in 4 bits with a scale and a zero for every group, and expansion of all weights to bf16.
 *
 *     out[i] = q[i], or (q[i] - 8) * scale[i / group] + zero[i / group]
 * A row consists of whole groups, so that all groups form one contiguous array; each thread converts eight values.
 */
#include "vector.h"

enum { THREADS = 256 };

QUANTISE_DEVICE uint32_t weight_pack(float low, float high)
{
	const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
	return *(const uint32_t *)&pair;
}

QUANTISE_DEVICE float weight_value(uint4 v, int i)
{
	const uint32_t pair = i / 2 == 0 ? v.x : i / 2 == 1 ? v.y : i / 2 == 2 ? v.z : v.w;
	return i % 2 ? quantise_high(pair) : quantise_low(pair);
}

/** The threads of a group are neighbours in a warp. */
static __global__ void __launch_bounds__(THREADS)
	groups_kernel(struct quantise_source source, int group, int64_t vectors, uint32_t *values, uint32_t *scales)
{
	const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, i = at < vectors ? at : vectors - 1;
	const int a_row = source.columns / VALUES, sharing = group / VALUES;
	const uint4 v = ((const uint4 *)((const __nv_bfloat16 *)source.data + i / a_row * source.stride))[i % a_row];
	float least = weight_value(v, 0), most = least;
#pragma unroll
	for (int j = 1; j < VALUES; j++) {
		least = fminf(least, weight_value(v, j));
		most = fmaxf(most, weight_value(v, j));
	}
	for (int other = sharing / 2; other > 0; other /= 2) {
		least = fminf(least, __shfl_xor_sync(~0u, least, other));
		most = fmaxf(most, __shfl_xor_sync(~0u, most, other));
	}
	const float s = fmaxf(__fdiv_rn(most - least, 15.0f), 1e-6f), zero = __fadd_rn(least, __fmul_rn(8.0f, s));
	uint32_t packed = 0;
#pragma unroll
	for (int j = 0; j < VALUES; j++) {
		const int q = __float2int_rn(__fdiv_rn(weight_value(v, j) - least, s));
		packed |= (uint32_t)max(0, min(15, q)) << 4 * j;
	}
	if (at >= vectors)
		return;
	values[i] = packed;
	if (i % sharing == 0)
		scales[i / sharing] = weight_pack(s, zero);
}

static __global__ void __launch_bounds__(THREADS)
	expand_groups_kernel(const uint32_t *values, const uint32_t *scales, int sharing, int64_t vectors, uint4 *out)
{
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * THREADS) {
		const uint32_t packed = values[i], scale = scales[i / sharing];
		const float s = quantise_low(scale), zero = quantise_high(scale);
		float v[VALUES];
#pragma unroll
		for (int j = 0; j < VALUES; j++)
			v[j] = fmaf((float)((int)(packed >> 4 * j & 15) - 8), s, zero);
		out[i] = make_uint4(
			weight_pack(v[0], v[1]), weight_pack(v[2], v[3]), weight_pack(v[4], v[5]), weight_pack(v[6], v[7]));
	}
}

/** Expand two adjacent bytes. */
template <int KIND> QUANTISE_DEVICE uint32_t weight_widen(uint32_t pair)
{
	if (KIND == QUANTISE_I8)
		return weight_pack((float)(int8_t)(pair & 0xff), (float)(int8_t)(pair >> 8 & 0xff));
	uint32_t halves = 0;
#if __CUDA_ARCH__ >= 890
	asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)pair));
#endif
	const float2 v = __half22float2(*(const __half2 *)&halves);
	return weight_pack(v.x, v.y);
}

template <int KIND>
static __global__ void __launch_bounds__(THREADS) expand_kernel(const uint2 *values, int64_t vectors, uint4 *out)
{
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * THREADS) {
		const uint2 v = __ldcs(values + i);
		out[i] = make_uint4(weight_widen<KIND>(v.x & 0xffff), weight_widen<KIND>(v.x >> 16),
			weight_widen<KIND>(v.y & 0xffff), weight_widen<KIND>(v.y >> 16));
	}
}

int quantise_groups(const struct quantise_source *source, int32_t group, void *values, void *scales, void *stream)
{
	const int64_t vectors = (int64_t)source->rows * source->columns / VALUES;
	groups_kernel<<<(unsigned)((vectors + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)stream>>>(
		*source, group, vectors, (uint32_t *)values, (uint32_t *)scales);
	return cudaGetLastError();
}

int quantise_expand(enum quantise_kind kind, const void *values, const void *scales, int32_t group, int64_t count, void *out,
	void *stream_handle)
{
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	const int64_t vectors = count / VALUES, a_grid = (vectors + THREADS - 1) / THREADS;
	const unsigned blocks = (unsigned)(a_grid < 4096 ? a_grid : 4096);
	if (kind == QUANTISE_I4)
		expand_groups_kernel<<<blocks, THREADS, 0, stream>>>(
			(const uint32_t *)values, (const uint32_t *)scales, group / VALUES, vectors, (uint4 *)out);
	else if (kind == QUANTISE_I8)
		expand_kernel<QUANTISE_I8><<<blocks, THREADS, 0, stream>>>((const uint2 *)values, vectors, (uint4 *)out);
	else
		expand_kernel<QUANTISE_E4M3><<<blocks, THREADS, 0, stream>>>((const uint2 *)values, vectors, (uint4 *)out);
	return cudaGetLastError();
}
