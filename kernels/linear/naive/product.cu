/**
 * product.cu - the product of provider "naive": tiles of 32 x 32 in shared memory, fp32 on the CUDA cores.
 *
 * 256 threads as 16 x 16; each computes two rows by two columns with a distance of 16:
 *
 *     out[row + 16 i][column + 16 j] += left[..][d] right[..][d]
 */
#include "linear/naive/naive.h"
#include "linear/rounding.h"

enum { TILE = 32, HALF = TILE / 2, THREADS = HALF * HALF, DEPTH = 32 };

/* Load a tile of a side, widened: to[row][d], zeros past its ends. Adjacent threads read adjacent elements. */
static __device__ void load(float (*to)[DEPTH + 1], const struct side &side, int32_t first, int32_t d, int32_t depth)
{
	const bool is_transposed = side.row_step == 1 && side.depth_step != 1;
	for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
		const int row = is_transposed ? i % TILE : i / DEPTH, k = is_transposed ? i / TILE : i % DEPTH;
		const bool is_inside = first + row < side.rows && d + k < depth;
		to[row][k] =
			is_inside ? rounding_widen(side.value[(first + row) * side.row_step + (d + k) * side.depth_step]) : 0.0f;
	}
}

/* The factor of a row of a side at depth `d`; past its end 0. */
static __device__ float factor_of(const struct side &side, int32_t row, int32_t d)
{
	if (row >= side.rows)
		return 0.0f;
	return !side.factor  ? 1.0f
	       : side.blocks ? side.factor[(int64_t)row * side.blocks + d / FW_LINEAR_SCALE_BLOCK]
			     : side.factor[row];
}

static __global__ void __launch_bounds__(THREADS) product_kernel(const struct side left, const struct side right,
	const int32_t depth, const struct naive_result result, const int32_t across)
{
	__shared__ float a[TILE][DEPTH + 1], b[TILE][DEPTH + 1];
	const int x = threadIdx.x % HALF, y = threadIdx.x / HALF;
	const int32_t row = (int32_t)(blockIdx.x / across) * TILE, column = (int32_t)(blockIdx.x % across) * TILE;
	/* with scales by block, a sum is of its block of depth until it is added to `all`, else of the whole depth */
	const int span = left.blocks || right.blocks ? FW_LINEAR_SCALE_BLOCK : 0;
	float sum[2][2] = { { 0.0f, 0.0f }, { 0.0f, 0.0f } }, all[2][2] = { { 0.0f, 0.0f }, { 0.0f, 0.0f } };
	for (int64_t d = 0; d < depth; d += DEPTH) {
		load(a, left, row, (int32_t)d, depth);
		load(b, right, column, (int32_t)d, depth);
		__syncthreads();
		for (int k = 0; k < DEPTH; k++)
			for (int i = 0; i < 2; i++)
				for (int j = 0; j < 2; j++)
					sum[i][j] += a[y + HALF * i][k] * b[x + HALF * j][k];
		__syncthreads();
		if (d + DEPTH < depth && (!span || (d + DEPTH) % span))
			continue;
		for (int i = 0; i < 2; i++)
			for (int j = 0; j < 2; j++) {
				const float v = sum[i][j] * factor_of(left, row + y + HALF * i, (int32_t)d);
				all[i][j] += v * factor_of(right, column + x + HALF * j, (int32_t)d);
				sum[i][j] = 0.0f;
			}
	}
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			const int32_t r = row + y + HALF * i, c = column + x + HALF * j;
			if (r >= left.rows || c >= right.rows)
				continue;
			float v = all[i][j];
			if (result.bias)
				v += rounding_widen(result.bias[c]);
			result.out[r * result.stride + c] = rounding_bf16(rounding_activate(result.activation, v));
		}
}

cudaError_t naive_product(
	const struct side *left, const struct side *right, int32_t depth, const struct naive_result *result, cudaStream_t stream)
{
	const int64_t across = ((int64_t)right->rows + TILE - 1) / TILE, down = ((int64_t)left->rows + TILE - 1) / TILE;
	product_kernel<<<(unsigned)(across * down), THREADS, 0, stream>>>(*left, *right, depth, *result, (int32_t)across);
	return cudaGetLastError();
}
