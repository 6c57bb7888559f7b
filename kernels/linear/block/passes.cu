/*
 * Providers "block" and "naive.block": transformer blocks computed with the CUDA providers of products, and the passes between
 * them.
 * rms and attend reduce in a tree of fixed order, so that results are bitwise reproducible.
 */
#include "linear/block/block.h"
#include "linear/providers.h"
#include "linear/rounding.h"

#include <cuda_runtime.h>

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS, THREADS = 256, BLOCKS_MAX = 1 << 20 };

static __device__ float sum_of(float mine)
{
	__shared__ float all[THREADS];
	__syncthreads();
	all[threadIdx.x] = mine;
	for (int n = THREADS / 2; n > 0; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			all[threadIdx.x] += all[threadIdx.x + n];
	}
	__syncthreads();
	return all[0];
}

/* One block per row. */
static __global__ void __launch_bounds__(THREADS)
	rms_kernel(const struct contract_matrix x, int32_t rows, int32_t k, float scale, uint16_t *to)
{
	for (int32_t row = blockIdx.x; row < rows; row += gridDim.x) {
		const uint16_t *const from = (const uint16_t *)x.data + row * x.stride;
		float squares = 0.0f;
		for (int32_t i = threadIdx.x; i < k; i += THREADS)
			squares += rounding_widen(from[i]) * rounding_widen(from[i]);
		const float factor = 1.0f / sqrtf(sum_of(squares) / (float)k + 1e-5f);
		for (int32_t i = threadIdx.x; i < k; i += THREADS)
			to[(int64_t)row * k + i] = rounding_bf16(scale * (rounding_widen(from[i]) * factor));
	}
}

/* One block per head of a sequence, a thread per pair of tokens for the scores; then threads are distributed over the result. */
static __global__ void __launch_bounds__(TOKENS *TOKENS)
	attend_kernel(const uint16_t *qkv, int32_t heads, int32_t k, float scale, uint16_t *to)
{
	__shared__ float weight[TOKENS][TOKENS + 1];
	const int32_t width = k / HEADS;
	const int query = threadIdx.x / TOKENS, key = threadIdx.x % TOKENS;
	for (int32_t i = blockIdx.x; i < heads; i += gridDim.x) {
		const int64_t first = (int64_t)(i / HEADS) * TOKENS;
		const uint16_t *const head = qkv + first * 3 * k + (i % HEADS) * width;
		float score = 0.0f, most = -INFINITY, sum = 0.0f;
		for (int32_t c = 0; c < width; c++)
			score += rounding_widen(head[(int64_t)query * 3 * k + c]) *
				 rounding_widen(head[(int64_t)key * 3 * k + k + c]);
		__syncthreads();
		weight[query][key] = score / sqrtf((float)width);
		__syncthreads();
		for (int u = 0; u < TOKENS; u++)
			most = fmaxf(most, weight[query][u]);
		for (int u = 0; u < TOKENS; u++)
			sum += expf(weight[query][u] - most);
		const float mine = expf(weight[query][key] - most) / sum;
		__syncthreads();
		weight[query][key] = mine;
		__syncthreads();
		for (int32_t at = threadIdx.x; at < TOKENS * width; at += TOKENS * TOKENS) {
			const int token = at / width, c = at % width;
			float v = 0.0f;
			for (int u = 0; u < TOKENS; u++)
				v += weight[token][u] * rounding_widen(head[(int64_t)u * 3 * k + 2 * k + c]);
			to[(first + token) * k + (i % HEADS) * width + c] = rounding_bf16(scale * v);
		}
	}
}

static __global__ void __launch_bounds__(THREADS) add_kernel(const struct contract_matrix x, const uint16_t *branch, int32_t rows,
	int32_t k, float scale, const struct contract_matrix to)
{
	const int64_t n = (int64_t)rows * k, step = (int64_t)gridDim.x * THREADS;
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
		const int64_t row = i / k, column = i % k;
		((uint16_t *)to.data)[row * to.stride + column] = rounding_bf16(
			rounding_widen(((const uint16_t *)x.data)[row * x.stride + column]) + scale * rounding_widen(branch[i]));
	}
}

static unsigned blocks(int64_t wanted)
{
	return (unsigned)(wanted < BLOCKS_MAX ? wanted : BLOCKS_MAX);
}

static const char *launched(void)
{
	const cudaError_t e = cudaGetLastError();
	return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

static const char *rms(const struct contract_matrix *x, int32_t rows, int32_t k, float scale, uint16_t *to, void *stream)
{
	rms_kernel<<<blocks(rows), THREADS, 0, (cudaStream_t)stream>>>(*x, rows, k, scale, to);
	return launched();
}

static const char *attend(const uint16_t *qkv, int32_t sequences, int32_t k, float scale, uint16_t *to, void *stream)
{
	const int32_t heads = sequences * HEADS;
	attend_kernel<<<blocks(heads), TOKENS * TOKENS, 0, (cudaStream_t)stream>>>(qkv, heads, k, scale, to);
	return launched();
}

static const char *add(const struct contract_matrix *x, const uint16_t *branch, int32_t rows, int32_t k, float scale,
	const struct contract_matrix *to, void *stream)
{
	const int64_t n = (int64_t)rows * k;
	add_kernel<<<blocks((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)stream>>>(*x, branch, rows, k, scale, *to);
	return launched();
}

static const struct block_passes passes = { rms, attend, add };
static const struct fw_provider *const fastest[] = { &linear_skinny, &linear_hopper, &linear_v1, &linear_naive, NULL };
static const struct fw_provider *const plainest[] = { &linear_naive, NULL };
static const struct block_kind fast = { &passes, fastest }, plain = { &passes, plainest };

static int fast_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	return block_can(&fast, problem, why, why_size);
}

static int fast_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	return block_plan(&fast, problem, config, index, out, info, why, why_size);
}

static int plain_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	return block_can(&plain, problem, why, why_size);
}

static int plain_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	return block_plan(&plain, problem, config, index, out, info, why, why_size);
}

extern "C" const struct fw_provider linear_block = { sizeof linear_block, FW_CUDA, FW_LINEAR, 0, "block", fast_can, fast_plan,
	block_bind, block_enqueue, block_count, block_error, block_destroy };
extern "C" const struct fw_provider linear_naive_block = { sizeof linear_naive_block, FW_CUDA, FW_LINEAR, 0, "naive.block",
	plain_can, plain_plan, block_bind, block_enqueue, block_count, block_error, block_destroy };
