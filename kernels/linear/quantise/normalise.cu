/**
 * normalise.cu - layer normalisation of rows without an affine transform: a row is read once and held in registers.
 *
 *     out[row][j] = (source[row][j] - mean) / sqrt(variance + 1e-5)
 */
#include "vector.h"

#define NORMALISE_EPSILON 1e-5f

QUANTISE_DEVICE float normalise_sum(float part)
{
	__shared__ float of_warp[32];
	const int warps = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	for (int other = 16; other > 0; other /= 2)
		part += __shfl_xor_sync(~0u, part, other);
	__syncthreads();
	if (lane == 0)
		of_warp[warp] = part;
	__syncthreads();
	float sum = 0.0f;
	for (int i = 0; i < warps; i++)
		sum += of_warp[i];
	return sum;
}

QUANTISE_DEVICE float normalise_total(uint32_t pair)
{
	return quantise_low(pair) + quantise_high(pair);
}

QUANTISE_DEVICE float normalise_square(uint32_t pair, float mean)
{
	const float a = quantise_low(pair) - mean, b = quantise_high(pair) - mean;
	return a * a + b * b;
}

QUANTISE_DEVICE uint32_t normalise_pair(uint32_t pair, float mean, float factor)
{
	const __nv_bfloat162 both =
		__floats2bfloat162_rn((quantise_low(pair) - mean) * factor, (quantise_high(pair) - mean) * factor);
	return *(const uint32_t *)&both;
}

QUANTISE_DEVICE uint4 normalise_vector(uint4 v, float mean, float factor)
{
	return make_uint4(normalise_pair(v.x, mean, factor), normalise_pair(v.y, mean, factor), normalise_pair(v.z, mean, factor),
		normalise_pair(v.w, mean, factor));
}

/** Rows of more than ROW_THREADS * ROW_VECTORS vectors are read again. */
static __global__ void __launch_bounds__(ROW_THREADS) normalise_kernel(struct quantise_source source, uint4 *out)
{
	const int vectors = source.columns / VALUES, first = (int)threadIdx.x;
	const uint4 *from = (const uint4 *)((const __nv_bfloat16 *)source.data + (int64_t)blockIdx.x * source.stride);
	uint4 *to = out + (int64_t)blockIdx.x * vectors;
	uint4 kept[ROW_VECTORS];
	float part = 0.0f;
	quantise_let_next();
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++) {
		kept[i] = make_uint4(0, 0, 0, 0);
		if (first + i * ROW_THREADS < vectors)
			kept[i] = __ldcs(from + first + i * ROW_THREADS);
	}
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++)
		part += normalise_total(kept[i].x) + normalise_total(kept[i].y) + normalise_total(kept[i].z) +
			normalise_total(kept[i].w);
	for (int i = first + ROW_VECTORS * ROW_THREADS; i < vectors; i += ROW_THREADS)
		part += normalise_total(from[i].x) + normalise_total(from[i].y) + normalise_total(from[i].z) +
			normalise_total(from[i].w);
	const float mean = normalise_sum(part) / (float)source.columns;
	part = 0.0f;
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++)
		if (first + i * ROW_THREADS < vectors)
			part += normalise_square(kept[i].x, mean) + normalise_square(kept[i].y, mean) +
				normalise_square(kept[i].z, mean) + normalise_square(kept[i].w, mean);
	for (int i = first + ROW_VECTORS * ROW_THREADS; i < vectors; i += ROW_THREADS)
		part += normalise_square(from[i].x, mean) + normalise_square(from[i].y, mean) +
			normalise_square(from[i].z, mean) + normalise_square(from[i].w, mean);
	const float factor = rsqrtf(normalise_sum(part) / (float)source.columns + NORMALISE_EPSILON);
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++)
		if (first + i * ROW_THREADS < vectors)
			to[first + i * ROW_THREADS] = normalise_vector(kept[i], mean, factor);
	for (int i = first + ROW_VECTORS * ROW_THREADS; i < vectors; i += ROW_THREADS)
		to[i] = normalise_vector(from[i], mean, factor);
}

int quantise_normalise(const struct quantise_source *source, void *out, void *stream)
{
	normalise_kernel<<<(unsigned)source->rows, ROW_THREADS, 0, (cudaStream_t)stream>>>(*source, (uint4 *)out);
	return cudaGetLastError();
}
