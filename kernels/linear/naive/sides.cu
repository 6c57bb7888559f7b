/**
 * sides.cu - operands of provider "naive": rounding with scales, and layernorm.
 *
 * A thread block computes the scale of a row by a tree reduction of fixed order; then a thread rounds a value, or a group of
 * 4-bit values.
 */
#include "linear/naive/naive.h"
#include "linear/rounding.h"

enum { THREADS = 256, BLOCKS_MAX = 1 << 20 };

static __device__ float element(const struct contract_matrix &m, int64_t row, int64_t column)
{
	return rounding_widen(((const uint16_t *)m.data)[row * m.stride + column]);
}

/* Reduce a value of every thread; all threads get the result. */
template <typename F> static __device__ float combine(float mine, F two)
{
	__shared__ float all[THREADS];
	__syncthreads();
	all[threadIdx.x] = mine;
	for (int n = THREADS / 2; n > 0; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			all[threadIdx.x] = two(all[threadIdx.x], all[threadIdx.x + n]);
	}
	__syncthreads();
	return all[0];
}

static __device__ float larger(float a, float b)
{
	return fmaxf(a, b);
}

static __device__ float sum(float a, float b)
{
	return a + b;
}

static __device__ bool is_by_tensor(const struct operand &o)
{
	return o.as.scaling == FW_LINEAR_BY_TENSOR;
}

static __device__ bool is_shared(const struct operand &o)
{
	return is_by_tensor(o) || (o.as.scaling == FW_LINEAR_BY_BLOCK && o.slot == FW_LINEAR_W);
}

/* factor[row of this side][span] = its scale, or its largest magnitude if other rows share it. One block per span. */
static __global__ void __launch_bounds__(THREADS)
	scale_kernel(const struct operand o, const struct contract_matrix from, float *factor)
{
	const int32_t span = operand_span(&o), spans = operand_spans(&o);
	for (int64_t i = blockIdx.x; i < (int64_t)o.rows * spans; i += gridDim.x) {
		const int32_t row = (int32_t)(i / spans);
		const int64_t first = i % spans * span, end = first + span < o.depth ? first + span : o.depth;
		float amax = 0.0f;
		for (int64_t d = first + threadIdx.x; d < end; d += THREADS)
			amax = fmaxf(amax, fabsf(o.is_transposed ? element(from, d, row) : element(from, row, d)));
		amax = combine(amax, larger);
		if (threadIdx.x == 0)
			factor[i] = is_shared(o) ? amax : rounding_scale(&o.as, amax);
	}
}

/* Set one scale for all, from the largest magnitudes of all rows. One block. */
static __global__ void __launch_bounds__(THREADS) share_kernel(const struct operand o, float *factor)
{
	float amax = 0.0f;
	for (int32_t row = threadIdx.x; row < o.rows; row += THREADS)
		amax = fmaxf(amax, factor[row]);
	amax = combine(amax, larger);
	for (int32_t row = threadIdx.x; row < o.rows; row += THREADS)
		factor[row] = rounding_scale(&o.as, amax);
}

/* Set one scale for the rows of a block of W. One thread per block. */
static __global__ void __launch_bounds__(THREADS) share_blocks_kernel(const struct operand o, float *factor, int64_t blocks)
{
	const int64_t spans = operand_spans(&o), step = (int64_t)gridDim.x * THREADS;
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < blocks; i += step) {
		const int64_t first = i / spans * o.as.group, end = first + o.as.group < o.rows ? first + o.as.group : o.rows;
		float amax = 0.0f;
		for (int64_t row = first; row < end; row++)
			amax = fmaxf(amax, factor[row * spans + i % spans]);
		for (int64_t row = first; row < end; row++)
			factor[row * spans + i % spans] = rounding_scale(&o.as, amax);
	}
}

static __global__ void __launch_bounds__(THREADS) round_kernel(const struct operand o, const struct contract_matrix from,
	uint16_t *to, const float *factor, int32_t rows, int32_t columns)
{
	const int64_t n = (int64_t)rows * columns, step = (int64_t)gridDim.x * THREADS;
	const int32_t span = operand_span(&o), spans = operand_spans(&o);
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
		const int32_t row = (int32_t)(i / columns), column = (int32_t)(i % columns);
		const int64_t line = o.is_transposed ? column : row, d = o.is_transposed ? row : column;
		to[i] = rounding_bf16(rounding_8bit(o.as.dtype, element(from, row, column), factor[line * spans + d / span]));
	}
}

static __global__ void __launch_bounds__(THREADS)
	group_kernel(const struct operand o, const struct contract_matrix from, uint16_t *to, int32_t rows, int32_t columns)
{
	const int32_t group = o.as.group, groups = columns / group;
	const int64_t n = (int64_t)rows * groups, step = (int64_t)gridDim.x * THREADS;
	for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
		const int32_t row = (int32_t)(i / groups), first = (int32_t)(i % groups) * group;
		float min = element(from, row, first), max = min;
		for (int32_t j = 1; j < group; j++) {
			min = fminf(min, element(from, row, first + j));
			max = fmaxf(max, element(from, row, first + j));
		}
		const struct rounding_group g = rounding_group(min, max);
		for (int32_t j = 0; j < group; j++)
			to[(int64_t)row * columns + first + j] =
				rounding_bf16((rounding_4bit(&g, element(from, row, first + j)) - 8.0f) * g.scale + g.zero);
	}
}

static unsigned blocks(int64_t wanted)
{
	return (unsigned)(wanted < BLOCKS_MAX ? wanted : BLOCKS_MAX);
}

cudaError_t naive_quantise(
	const struct operand *operand, const struct contract_matrix *from, uint16_t *to, float *factor, cudaStream_t stream)
{
	const int32_t rows = operand->is_transposed ? operand->depth : operand->rows;
	const int32_t columns = operand->is_transposed ? operand->rows : operand->depth;
	const unsigned all = blocks(((int64_t)rows * columns + THREADS - 1) / THREADS);
	if (operand->as.dtype == FW_I4) {
		group_kernel<<<all, THREADS, 0, stream>>>(*operand, *from, to, rows, columns);
		return cudaGetLastError();
	}
	const int64_t spans = operand_spans(operand);
	scale_kernel<<<blocks(operand->rows * spans), THREADS, 0, stream>>>(*operand, *from, factor);
	if (operand->as.scaling == FW_LINEAR_BY_TENSOR) {
		share_kernel<<<1, THREADS, 0, stream>>>(*operand, factor);
	} else if (operand->as.scaling == FW_LINEAR_BY_BLOCK && operand->slot == FW_LINEAR_W) {
		const int64_t all_blocks = ((operand->rows - 1) / operand->as.group + 1) * spans;
		share_blocks_kernel<<<blocks((all_blocks + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
			*operand, factor, all_blocks);
	}
	round_kernel<<<all, THREADS, 0, stream>>>(*operand, *from, to, factor, rows, columns);
	return cudaGetLastError();
}

static __global__ void __launch_bounds__(THREADS)
	normalise_kernel(const struct contract_matrix x, int32_t m, int32_t k, uint16_t *to)
{
	for (int32_t row = blockIdx.x; row < m; row += gridDim.x) {
		float total = 0.0f, squares = 0.0f;
		for (int32_t i = threadIdx.x; i < k; i += THREADS)
			total += element(x, row, i);
		const float mean = combine(total, sum) / (float)k;
		for (int32_t i = threadIdx.x; i < k; i += THREADS)
			squares += (element(x, row, i) - mean) * (element(x, row, i) - mean);
		const float inverse = 1.0f / sqrtf(combine(squares, sum) / (float)k + 1e-5f);
		for (int32_t i = threadIdx.x; i < k; i += THREADS)
			to[(int64_t)row * k + i] = rounding_bf16((element(x, row, i) - mean) * inverse);
	}
}

cudaError_t naive_normalise(const struct contract_matrix *x, int32_t m, int32_t k, uint16_t *to, cudaStream_t stream)
{
	normalise_kernel<<<blocks(m), THREADS, 0, stream>>>(*x, m, k, to);
	return cudaGetLastError();
}
