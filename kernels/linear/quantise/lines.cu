/**
 * lines.cu - bf16 to 8-bit floats with the lines of the copy along rows or columns of the source, in tiles of 128 x 128.
 *
 *     values[line][j] = round(source[line][j] / s), or source[j][line] across
 * A thread holds a patch of 8 x 8 values, so that it packs 8 bytes of a line in either direction; across, these meet in shared
 * memory. Scales by span or block are of a tile, so that the source is read once; others need a pass before.
 */
#include "lines.h"
#include "vector.h"

enum { TILE = 128, PATCH = 8, PATCHES = TILE / PATCH, THREADS = PATCHES * PATCHES, WARPS = THREADS / 32, TILES_OF_A_COLUMN = 4 };

struct lines_job {
	struct quantise_source source;
	struct quantise_copy copy;
	int32_t partials; /* TENSOR */
};

/** Rows `row` to + 7, eight columns from `column` on; zeros past the end. */
QUANTISE_DEVICE void lines_patch(uint4 (&v)[PATCH], const struct quantise_source &source, int row, int column)
{
#pragma unroll
	for (int i = 0; i < PATCH; i++) {
		v[i] = make_uint4(0, 0, 0, 0);
		if (row + i < source.rows && column < source.columns)
			v[i] = *(const uint4 *)((const __nv_bfloat16 *)source.data + (int64_t)(row + i) * source.stride + column);
	}
}

/** Value `j` of a vector. */
QUANTISE_DEVICE float lines_value(const uint4 &v, int j)
{
	const uint32_t pair = j / 2 == 0 ? v.x : j / 2 == 1 ? v.y : j / 2 == 2 ? v.z : v.w;
	return j % 2 ? quantise_high(pair) : quantise_low(pair);
}

/** The largest magnitude of each column of the tile, in shared memory after a barrier; thread t < 128 then owns column t. */
QUANTISE_DEVICE void lines_columns(float (&most)[PATCH], float (*of_warp)[TILE])
{
	const int x = (int)threadIdx.x % PATCHES;
#pragma unroll
	for (int j = 0; j < PATCH; j++) {
		most[j] = fmaxf(most[j], __shfl_xor_sync(~0u, most[j], PATCHES));
		if (threadIdx.x % 32 < PATCHES)
			of_warp[threadIdx.x / 32][x * PATCH + j] = most[j];
	}
	__syncthreads();
}

QUANTISE_DEVICE float lines_of_column(const float (*of_warp)[TILE])
{
	float amax = 0.0f;
#pragma unroll
	for (int w = 0; w < WARPS; w++)
		amax = fmaxf(amax, of_warp[w][threadIdx.x]);
	return amax;
}

/** amax[column] of the source, which is zero before; the bits of floats that are not negative are ordered like integers. */
static __global__ void __launch_bounds__(THREADS) lines_amax_kernel(struct quantise_source source, float *amax)
{
	__shared__ float of_warp[WARPS][TILE];
	const int tiles = (source.columns + TILE - 1) / TILE, first = (int)(blockIdx.x % tiles) * TILE;
	const int column = first + (int)threadIdx.x % PATCHES * PATCH, line = first + (int)threadIdx.x;
	float most[PATCH] = {};
	for (int t = 0; t < TILES_OF_A_COLUMN; t++) {
		const int row = ((int)(blockIdx.x / tiles) * TILES_OF_A_COLUMN + t) * TILE + (int)threadIdx.x / PATCHES * PATCH;
		uint4 v[PATCH];
		lines_patch(v, source, row, column);
#pragma unroll
		for (int i = 0; i < PATCH; i++)
#pragma unroll
			for (int j = 0; j < PATCH; j++)
				most[j] = fmaxf(most[j], fabsf(lines_value(v[i], j)));
	}
	lines_columns(most, of_warp);
	if (threadIdx.x < TILE && line < source.columns)
		atomicMax((int *)amax + line, __float_as_int(lines_of_column(of_warp)));
}

/** s[i] of the patch's rows by SPANS, along: a tile's row is in 16 neighbouring lanes. */
template <int KIND>
QUANTISE_DEVICE void lines_scale_rows(float (&s)[PATCH], const uint4 (&v)[PATCH], const struct lines_job &job, int row, int span)
{
#pragma unroll
	for (int i = 0; i < PATCH; i++) {
		float amax = quantise_largest(0.0f, v[i]);
		for (int other = PATCHES / 2; other > 0; other /= 2)
			amax = fmaxf(amax, __shfl_xor_sync(~0u, amax, other));
		s[i] = quantise_scale<KIND>(amax, job.source.power_of_two);
		if (threadIdx.x % PATCHES == 0 && row + i < job.source.rows)
			job.copy.scales[span * job.copy.scale_pitch + row + i] = s[i];
	}
}

/** s[j] of the patch's columns by SPANS or LINE, across. */
template <int KIND, int SCOPE>
QUANTISE_DEVICE void lines_scale_columns(
	float (&s)[PATCH], const uint4 (&v)[PATCH], const struct lines_job &job, int tile_x, int tile_y)
{
	__shared__ float of_warp[WARPS][TILE], of_column[TILE];
	const int line = tile_x * TILE + (int)threadIdx.x;
	if (SCOPE == QUANTISE_SPANS) {
		float most[PATCH] = {};
#pragma unroll
		for (int i = 0; i < PATCH; i++)
#pragma unroll
			for (int j = 0; j < PATCH; j++)
				most[j] = fmaxf(most[j], fabsf(lines_value(v[i], j)));
		lines_columns(most, of_warp);
	}
	if (threadIdx.x < TILE) {
		const float amax = SCOPE == QUANTISE_SPANS     ? lines_of_column(of_warp)
				   : line < job.source.columns ? job.copy.partial[line]
							       : 0.0f;
		const float scale = of_column[threadIdx.x] = quantise_scale<KIND>(amax, job.source.power_of_two);
		if (line < job.source.columns && (SCOPE == QUANTISE_SPANS || tile_y == 0))
			job.copy.scales[(SCOPE == QUANTISE_SPANS ? tile_y : 0) * job.copy.scale_pitch + line] = scale;
	}
	__syncthreads();
#pragma unroll
	for (int j = 0; j < PATCH; j++)
		s[j] = of_column[(int)threadIdx.x % PATCHES * PATCH + j];
}

/** The one scale of the tile, by BLOCKS or TENSOR. `line`, `span`: of the tile, in tiles. */
template <int KIND, int SCOPE>
QUANTISE_DEVICE float lines_scale_tile(const uint4 (&v)[PATCH], const struct lines_job &job, int line, int span)
{
	float amax = 0.0f;
	if (SCOPE == QUANTISE_TENSOR)
		for (int p = (int)threadIdx.x; p < job.partials; p += THREADS)
			amax = fmaxf(amax, job.copy.partial[p]);
	else
#pragma unroll
		for (int i = 0; i < PATCH; i++)
			amax = quantise_largest(amax, v[i]);
	const float s = quantise_scale<KIND>(quantise_of_block(amax), job.source.power_of_two);
	if (threadIdx.x == 0 && (SCOPE == QUANTISE_BLOCKS || blockIdx.x == 0))
		job.copy.scales[SCOPE == QUANTISE_BLOCKS ? span * job.copy.scale_pitch + line : 0] = s;
	return s;
}

/** Store the tile with its columns as lines. */
template <int KIND>
QUANTISE_DEVICE void lines_store_across(
	const uint4 (&v)[PATCH], const float (&s)[PATCH], const struct lines_job &job, int tile_x, int tile_y)
{
	__shared__ uint2 turned[TILE][PATCHES]; /* chunk c of line l at c ^ l / 8, so that neither access conflicts */
	const int x = (int)threadIdx.x % PATCHES, y = (int)threadIdx.x / PATCHES;
#pragma unroll
	for (int j = 0; j < PATCH; j++) {
		const float reciprocal = __frcp_rn(s[j]);
		uint32_t pair[PATCH / 2];
#pragma unroll
		for (int i = 0; i < PATCH / 2; i++)
			pair[i] = quantise_two<KIND>(quantise_divide(lines_value(v[2 * i], j), s[j], reciprocal),
				quantise_divide(lines_value(v[2 * i + 1], j), s[j], reciprocal));
		turned[x * PATCH + j][y ^ x] = make_uint2(pair[0] | pair[1] << 16, pair[2] | pair[3] << 16);
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < TILE * PATCHES / THREADS; i++) {
		const int at = (int)threadIdx.x + i * THREADS, line = at / PATCHES, chunk = at % PATCHES;
		if (tile_x * TILE + line < job.source.columns)
			*(uint2 *)(job.copy.values + (int64_t)(tile_x * TILE + line) * job.copy.pitch + tile_y * TILE +
				   chunk * PATCH) = turned[line][chunk ^ line / PATCH];
	}
}

/** One block per tile. */
template <int KIND, int SCOPE, int ACROSS> static __global__ void __launch_bounds__(THREADS) lines_kernel(struct lines_job job)
{
	const int tiles = (job.source.columns + TILE - 1) / TILE;
	const int tile_x = (int)(blockIdx.x % tiles), tile_y = (int)(blockIdx.x / tiles);
	const int column = tile_x * TILE + (int)threadIdx.x % PATCHES * PATCH;
	const int row = tile_y * TILE + (int)threadIdx.x / PATCHES * PATCH;
	uint4 v[PATCH];
	float s[PATCH];
	quantise_let_next();
	lines_patch(v, job.source, row, column);
	if constexpr (SCOPE == QUANTISE_TENSOR || SCOPE == QUANTISE_BLOCKS) {
		s[0] = lines_scale_tile<KIND, SCOPE>(v, job, ACROSS ? tile_x : tile_y, ACROSS ? tile_y : tile_x);
#pragma unroll
		for (int i = 1; i < PATCH; i++)
			s[i] = s[0];
	} else if constexpr (ACROSS) {
		lines_scale_columns<KIND, SCOPE>(s, v, job, tile_x, tile_y);
	} else {
		lines_scale_rows<KIND>(s, v, job, row, tile_x);
	}
	if constexpr (ACROSS) {
		lines_store_across<KIND>(v, s, job, tile_x, tile_y);
	} else {
#pragma unroll
		for (int i = 0; i < PATCH; i++)
			if (row + i < job.source.rows)
				*(uint2 *)(job.copy.values + (row + i) * job.copy.pitch + column) =
					quantise_made<KIND>::of(v[i], s[i], __frcp_rn(s[i]));
	}
}

template <int KIND, int SCOPE, int ACROSS> static void launch(const struct lines_job &job, cudaStream_t stream)
{
	const int64_t x = (job.source.columns + TILE - 1) / TILE, y = (job.source.rows + TILE - 1) / TILE;
	lines_kernel<KIND, SCOPE, ACROSS><<<(unsigned)(x * y), THREADS, 0, stream>>>(job);
}

template <int KIND> static void launch_across(const struct lines_job &job, cudaStream_t stream)
{
	if (job.copy.scope == QUANTISE_TENSOR)
		launch<KIND, QUANTISE_TENSOR, 1>(job, stream);
	else if (job.copy.scope == QUANTISE_LINE)
		launch<KIND, QUANTISE_LINE, 1>(job, stream);
	else if (job.copy.scope == QUANTISE_SPANS)
		launch<KIND, QUANTISE_SPANS, 1>(job, stream);
	else
		launch<KIND, QUANTISE_BLOCKS, 1>(job, stream);
}

/* The pass before the copy, if its scales need one. */
static cudaError_t find_amax(struct lines_job *job, cudaStream_t stream)
{
	const struct quantise_source *source = &job->source;
	if (job->copy.scope == QUANTISE_TENSOR)
		job->partials = quantise_largest_of_all(source, job->copy.partial, stream);
	if (job->copy.scope != QUANTISE_LINE)
		return cudaGetLastError();
	const int64_t x = (source->columns + TILE - 1) / TILE;
	const int64_t y = (source->rows + TILES_OF_A_COLUMN * TILE - 1) / (TILES_OF_A_COLUMN * TILE);
	const cudaError_t e = cudaMemsetAsync(job->copy.partial, 0, (size_t)source->columns * sizeof *job->copy.partial, stream);
	if (e != cudaSuccess)
		return e;
	lines_amax_kernel<<<(unsigned)(x * y), THREADS, 0, stream>>>(*source, job->copy.partial);
	return cudaGetLastError();
}

int quantise_lines(const struct quantise_source *source, const struct quantise_copy *copy, void *stream_handle)
{
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	struct lines_job job = { *source, *copy, 0 };
	const cudaError_t e = find_amax(&job, stream);
	if (e != cudaSuccess)
		return e;
	if (copy->is_across && copy->kind == QUANTISE_E5M2)
		launch_across<QUANTISE_E5M2>(job, stream);
	else if (copy->is_across)
		launch_across<QUANTISE_E4M3>(job, stream);
	else if (copy->scope == QUANTISE_SPANS)
		launch<QUANTISE_E4M3, QUANTISE_SPANS, 0>(job, stream);
	else
		launch<QUANTISE_E4M3, QUANTISE_BLOCKS, 0>(job, stream);
	return cudaGetLastError();
}
