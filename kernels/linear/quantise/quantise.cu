/**
 * quantise.cu - bf16 to 8 bits at the speed of memory: a row is read once and held in registers while its largest magnitude is
 * computed.
 *
 *     values[row][j] = round(source[row][j] / scales[row])
 * A scale of the whole tensor needs a second pass; it runs backwards, so that it begins with the data that the first pass left in
 * the L2 cache. x / s is rounded as IEEE division: the product with the reciprocal, corrected by its remainder.
 */
#include "lines.h"
#include "vector.h"

enum { BLOCKS_PER_PROCESSOR = 4, TENSOR_THREADS = 512 };

/** A row is shared by THREADS: a warp or a block. Rows of more than THREADS * ROW_VECTORS vectors are read twice. */
template <int KIND, int THREADS>
static __global__ void __launch_bounds__(ROW_THREADS)
	rows_kernel(struct quantise_source source, typename quantise_made<KIND>::vector *values, float *scales)
{
	const int a_block = ROW_THREADS / THREADS, lane = (int)threadIdx.x % THREADS, vectors = source.columns / VALUES;
	const int row = (int)blockIdx.x * a_block + (int)threadIdx.x / THREADS;
	if (row >= source.rows)
		return;
	const uint4 *from = (const uint4 *)((const __nv_bfloat16 *)source.data + row * source.stride);
	typename quantise_made<KIND>::vector *to = values + (int64_t)row * vectors;
	uint4 kept[ROW_VECTORS];
	float amax = 0.0f;
	quantise_let_next();
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++) {
		kept[i] = make_uint4(0, 0, 0, 0);
		if (lane + i * THREADS < vectors)
			kept[i] = __ldcs(from + lane + i * THREADS);
	}
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++)
		amax = quantise_largest(amax, kept[i]);
	for (int i = lane + ROW_VECTORS * THREADS; i < vectors; i += THREADS)
		amax = quantise_largest(amax, from[i]);
	amax = THREADS == 32 ? quantise_of_warp(amax) : quantise_of_block(amax);
	const float s = quantise_scale<KIND>(amax, source.power_of_two), reciprocal = __frcp_rn(s);
	if (lane == 0)
		scales[row] = s;
#pragma unroll
	for (int i = 0; i < ROW_VECTORS; i++)
		if (lane + i * THREADS < vectors)
			to[lane + i * THREADS] = quantise_made<KIND>::of(kept[i], s, reciprocal);
	for (int i = lane + ROW_VECTORS * THREADS; i < vectors; i += THREADS)
		to[i] = quantise_made<KIND>::of(from[i], s, reciprocal);
}

/** Vector `i` of the matrix. */
QUANTISE_DEVICE const uint4 *quantise_at(const struct quantise_source &source, int64_t i)
{
	if (source.stride == source.columns)
		return (const uint4 *)source.data + i;
	const int vectors = source.columns / VALUES;
	return (const uint4 *)((const __nv_bfloat16 *)source.data + i / vectors * source.stride) + i % vectors;
}

static __global__ void __launch_bounds__(TENSOR_THREADS)
	largest_kernel(struct quantise_source source, int64_t vectors, float *partial)
{
	const int64_t step = (int64_t)gridDim.x * blockDim.x;
	float amax = 0.0f;
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	for (; i + 3 * step < vectors; i += 4 * step) {
		const uint4 a = *quantise_at(source, i), b = *quantise_at(source, i + step);
		const uint4 c = *quantise_at(source, i + 2 * step), d = *quantise_at(source, i + 3 * step);
		amax = quantise_largest(quantise_largest(quantise_largest(quantise_largest(amax, a), b), c), d);
	}
	for (; i < vectors; i += step)
		amax = quantise_largest(amax, *quantise_at(source, i));
	amax = quantise_of_block(amax);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = amax;
}

template <int KIND>
static __global__ void __launch_bounds__(TENSOR_THREADS) cast_kernel(struct quantise_source source, int64_t vectors,
	const float *partial, int partials, typename quantise_made<KIND>::vector *values, float *scale)
{
	const int64_t step = (int64_t)gridDim.x * blockDim.x;
	float amax = 0.0f;
	quantise_let_next();
	for (int p = (int)threadIdx.x; p < partials; p += (int)blockDim.x)
		amax = fmaxf(amax, partial[p]);
	amax = quantise_of_block(amax);
	const float s = quantise_scale<KIND>(amax, source.power_of_two), reciprocal = __frcp_rn(s);
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*scale = s;
	int64_t i = vectors - 1 - ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
	for (; i - 3 * step >= 0; i -= 4 * step) {
		uint4 v[4];
#pragma unroll
		for (int j = 0; j < 4; j++)
			v[j] = __ldcs(quantise_at(source, i - j * step));
#pragma unroll
		for (int j = 0; j < 4; j++)
			values[i - j * step] = quantise_made<KIND>::of(v[j], s, reciprocal);
	}
	for (; i >= 0; i -= step)
		values[i] = quantise_made<KIND>::of(*quantise_at(source, i), s, reciprocal);
}

template <int KIND> static int rows(const struct quantise_source *source, void *values, float *scales, cudaStream_t stream)
{
	typedef typename quantise_made<KIND>::vector vector;
	const int a_block = source->columns <= 32 * ROW_VECTORS * VALUES ? ROW_THREADS / 32 : 1;
	const unsigned blocks = (unsigned)((source->rows + a_block - 1) / a_block);
	if (a_block > 1)
		rows_kernel<KIND, 32><<<blocks, ROW_THREADS, 0, stream>>>(*source, (vector *)values, scales);
	else
		rows_kernel<KIND, ROW_THREADS><<<blocks, ROW_THREADS, 0, stream>>>(*source, (vector *)values, scales);
	return cudaGetLastError();
}

int quantise_rows(const struct quantise_source *source, enum quantise_kind kind, void *values, float *scales, void *stream)
{
	if (kind == QUANTISE_I8)
		return rows<QUANTISE_I8>(source, values, scales, (cudaStream_t)stream);
	if (kind == QUANTISE_E5M2)
		return rows<QUANTISE_E5M2>(source, values, scales, (cudaStream_t)stream);
	return kind == QUANTISE_E4M3_IN_BF16 ? rows<QUANTISE_E4M3_IN_BF16>(source, values, scales, (cudaStream_t)stream)
					     : rows<QUANTISE_E4M3>(source, values, scales, (cudaStream_t)stream);
}

int64_t quantise_tensor_bytes(const struct quantise_source *source)
{
	return (int64_t)source->processors * BLOCKS_PER_PROCESSOR * (int64_t)sizeof(float);
}

int64_t quantise_copy_bytes(const struct quantise_source *source, const struct quantise_copy *copy)
{
	if (copy->scope == QUANTISE_TENSOR)
		return quantise_tensor_bytes(source);
	return copy->scope == QUANTISE_LINE && copy->is_across ? (int64_t)source->columns * (int64_t)sizeof(float) : 0;
}

static int tensor_blocks(const struct quantise_source *source)
{
	const int64_t vectors = (int64_t)source->rows * source->columns / VALUES;
	return (int)min((int64_t)source->processors * BLOCKS_PER_PROCESSOR, (vectors + TENSOR_THREADS - 1) / TENSOR_THREADS);
}

int quantise_largest_of_all(const struct quantise_source *source, float *partial, void *stream)
{
	const int64_t vectors = (int64_t)source->rows * source->columns / VALUES;
	const int blocks = tensor_blocks(source);
	largest_kernel<<<(unsigned)blocks, TENSOR_THREADS, 0, (cudaStream_t)stream>>>(*source, vectors, partial);
	return blocks;
}

template <int KIND>
static void cast(
	const struct quantise_source *source, int blocks, void *values, float *scales, const float *partial, cudaStream_t stream)
{
	const int64_t vectors = (int64_t)source->rows * source->columns / VALUES;
	cast_kernel<KIND><<<(unsigned)blocks, TENSOR_THREADS, 0, stream>>>(
		*source, vectors, partial, blocks, (typename quantise_made<KIND>::vector *)values, scales);
}

int quantise_tensor(const struct quantise_source *source, enum quantise_kind kind, void *values, float *scales, void *partial,
	void *stream_handle)
{
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	const int blocks = quantise_largest_of_all(source, (float *)partial, stream);
	const cudaError_t e = cudaGetLastError();
	if (e != cudaSuccess)
		return e;
	if (kind == QUANTISE_E4M3_IN_BF16)
		cast<QUANTISE_E4M3_IN_BF16>(source, blocks, values, scales, (const float *)partial, stream);
	else if (kind == QUANTISE_E5M2)
		cast<QUANTISE_E5M2>(source, blocks, values, scales, (const float *)partial, stream);
	else
		cast<QUANTISE_E4M3>(source, blocks, values, scales, (const float *)partial, stream);
	return cudaGetLastError();
}
