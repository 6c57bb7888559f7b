/**
 * pack.cu - rounding of W and its layout as defined in skinny.h: `once` work.
 *
 * First the scales: a warp per row (8 bits), or a thread per group (4 bits). Then a warp packs 16 rows by 64 columns; every lane
 * packs the values that it will read as a consumer. Rows past n and columns past k become zeros.
 */
#include "linear/rounding.h"
#include "linear/skinny/skinny.h"

enum { THREADS = 256 };

static __device__ void widen8(const uint16_t *from, float to[8])
{
	const uint4 bits = *(const uint4 *)from;
	const uint32_t pairs[4] = { bits.x, bits.y, bits.z, bits.w };
	for (int i = 0; i < 4; i++) {
		to[2 * i] = rounding_widen((uint16_t)pairs[i]);
		to[2 * i + 1] = rounding_widen((uint16_t)(pairs[i] >> 16));
	}
}

static __global__ void __launch_bounds__(THREADS) scale_kernel(
	const struct fw_linear_operand as, const struct contract_matrix from, int32_t n, int32_t rows, int32_t k, float *scale)
{
	const int32_t row = (int32_t)((blockIdx.x * THREADS + threadIdx.x) / 32), lane = threadIdx.x % 32;
	if (row >= rows)
		return;
	float amax = 0.0f;
	for (int32_t i = lane * 8; i < k && row < n; i += 256) {
		float v[8];
		widen8((const uint16_t *)from.data + row * from.stride + i, v);
		for (int j = 0; j < 8; j++)
			amax = fmaxf(amax, fabsf(v[j]));
	}
	for (int lanes = 16; lanes > 0; lanes /= 2)
		amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, lanes));
	if (lane == 0)
		scale[row] = as.scaling == FW_LINEAR_BY_TENSOR ? amax : rounding_scale(&as, amax);
}

/* Convert the largest magnitudes of rows to the one scale for all, once per row. One block. */
static __global__ void __launch_bounds__(THREADS) tensor_kernel(const struct fw_linear_operand as, int32_t rows, float *scale)
{
	__shared__ float of_warp[THREADS / 32];
	float amax = 0.0f;
	for (int32_t i = threadIdx.x; i < rows; i += THREADS)
		amax = fmaxf(amax, scale[i]);
	for (int lanes = 16; lanes > 0; lanes /= 2)
		amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, lanes));
	if (threadIdx.x % 32 == 0)
		of_warp[threadIdx.x / 32] = amax;
	__syncthreads();
	for (int warp = 0; warp < THREADS / 32; warp++)
		amax = fmaxf(amax, of_warp[warp]);
	for (int32_t i = threadIdx.x; i < rows; i += THREADS)
		scale[i] = rounding_scale(&as, amax);
}

/* Offset of a row's scales after the values of a chunk, in the order in which lanes read. */
static __device__ int32_t scale_place(int32_t row)
{
	return row / 16 * 16 + row % 8 * 2 + row % 16 / 8;
}

static __global__ void __launch_bounds__(THREADS) group_kernel(const __grid_constant__ struct skinny_task task,
	const struct contract_matrix from, float2 *steps, int32_t rows, int32_t groups)
{
	const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
	const int32_t row = (int32_t)(i / groups), which = (int32_t)(i % groups), group = 1 << task.group_log2;
	const int32_t block_n = task.shape.block_n, block_k = task.shape.block_k, first = which * group;
	if (row >= rows)
		return;
	uint32_t word = 0;
	if (row < task.n && first < task.k) {
		const uint16_t *const values = (const uint16_t *)from.data + row * from.stride + first;
		float min = rounding_widen(values[0]), max = min;
		for (int32_t j = 0; j < group; j += 8) {
			float v[8];
			widen8(values + j, v);
			for (int l = 0; l < 8; l++) {
				min = fminf(min, v[l]);
				max = fmaxf(max, v[l]);
			}
		}
		const struct rounding_group g = rounding_group(min, max);
		steps[(int64_t)row * (task.k / group) + which] = make_float2(g.min, g.step);
		const float scale = rounding_widen(rounding_bf16(g.scale));
		word = rounding_bf16(SKINNY_I4_SCALE * scale) | (uint32_t)rounding_bf16(g.zero) << 16;
	}
	const int32_t chunk_bytes = skinny_chunk_bytes(task.format, &task.shape, task.group_log2);
	const int32_t in_chunk = group < block_k ? first % block_k / group : 0;
	for (int32_t chunk = first / block_k; chunk * block_k < first + group && chunk < task.chunks; chunk++) {
		unsigned char *const to =
			(unsigned char *)task.packed + ((int64_t)(row / block_n) * task.chunks + chunk) * chunk_bytes;
		((uint32_t *)(to + block_n * block_k / 2))[in_chunk * block_n + scale_place(row % block_n)] = word;
	}
}

/* Sixteen columns of one row, in the order of its lane. */
static __device__ void pack_row(const struct skinny_task &task, const struct fw_linear_operand &as,
	const struct contract_matrix &from, const float2 *steps, int32_t row, int32_t column, uint32_t to[4])
{
	to[0] = to[1] = to[2] = to[3] = 0;
	for (int half = 0; half < 2; half++) {
		const int32_t k = column + 8 * half;
		if (row >= task.n || k >= task.k)
			return;
		float v[8];
		widen8((const uint16_t *)from.data + row * from.stride + k, v);
		for (int i = 0; i < 8; i++) {
			if (task.format == FW_I4) {
				const float2 step = steps[(int64_t)row * (task.k >> task.group_log2) + (k >> task.group_log2)];
				struct rounding_group g;
				g.min = step.x;
				g.step = step.y;
				to[half] |= (uint32_t)rounding_4bit(&g, v[i]) << 4 * (i / 2 + i % 2 * 4);
				continue;
			}
			const float q = rounding_8bit(as.dtype, v[i], task.scale[row]);
			uint32_t byte, place = i % 4;
			if (as.dtype == FW_I8) {
				byte = (uint32_t)((int)q + 128);
			} else {
				/*
				 * the sign, and four bits of exponent and three of mantissa of the exact value; below 2^-6 in
				 * steps of 2^-9
				 */
				const float size = fabsf(q);
				const uint32_t bits = __float_as_uint(size);
				byte = size < 0.015625f ? (uint32_t)(size * 512.0f) : (bits >> 20) - (120 << 3);
				byte |= __float_as_uint(q) >> 24 & 0x80;
				place = (i % 2 == 0 ? 1 : 3) - i % 4 / 2;
			}
			to[half * 2 + i / 4] |= byte << 8 * place;
		}
	}
}

static __global__ void __launch_bounds__(THREADS) pack_kernel(const __grid_constant__ struct skinny_task task,
	const struct fw_linear_operand as, const struct contract_matrix from, const float2 *steps, int64_t warps)
{
	const int64_t warp = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32;
	const int lane = threadIdx.x % 32, blocks = task.shape.block_k / 64, tiles = task.shape.block_n / 16;
	if (warp >= warps)
		return;
	const int32_t block = (int32_t)(warp % blocks), tile = (int32_t)(warp / blocks % tiles);
	const int64_t chunk = warp / blocks / tiles; /* over all tiles of BLOCK_N rows */
	const int32_t row = (int32_t)(chunk / task.chunks) * task.shape.block_n + tile * 16 + lane / 4;
	const int32_t column = (int32_t)(chunk % task.chunks) * task.shape.block_k + block * 64 + lane % 4 * 16;
	uint32_t upper[4], lower[4];
	pack_row(task, as, from, steps, row, column, upper);
	pack_row(task, as, from, steps, row + 8, column, lower);
	unsigned char *const to =
		(unsigned char *)task.packed + chunk * skinny_chunk_bytes(task.format, &task.shape, task.group_log2);
	uint4 *const values = (uint4 *)(to + (tile * blocks + block) * 128 * skinny_bits(task.format));
	if (task.format == FW_I4) {
		values[lane] = make_uint4(upper[0], upper[1], lower[0], lower[1]);
	} else {
		values[lane] = make_uint4(upper[0], upper[1], upper[2], upper[3]);
		values[32 + lane] = make_uint4(lower[0], lower[1], lower[2], lower[3]);
	}
}

cudaError_t skinny_pack(const struct skinny_task *task, const struct fw_linear_operand *as, const struct contract_matrix *from,
	float2 *steps, cudaStream_t stream)
{
	const struct skinny_shape *s = &task->shape;
	const int64_t tiles = (task->n + s->block_n - 1) / s->block_n, rows = tiles * s->block_n;
	const int64_t warps = tiles * task->chunks * (s->block_n / 16) * (s->block_k / 64);
	if (task->format == FW_I4) {
		const int64_t columns = (int64_t)task->chunks * s->block_k, group = (int64_t)1 << task->group_log2;
		const int64_t groups = (columns + group - 1) / group;
		group_kernel<<<(unsigned)((rows * groups + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
			*task, *from, steps, (int32_t)rows, (int32_t)groups);
	} else {
		scale_kernel<<<(unsigned)((rows * 32 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
			*as, *from, task->n, (int32_t)rows, task->k, (float *)task->scale);
		if (as->scaling == FW_LINEAR_BY_TENSOR)
			tensor_kernel<<<1, THREADS, 0, stream>>>(*as, (int32_t)rows, (float *)task->scale);
	}
	pack_kernel<<<(unsigned)((warps * 32 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(*task, *as, *from, steps, warps);
	return cudaGetLastError();
}
