/*
 * kernels.cu - attention of few queries on many keys: one thread block for each share of a sequence's keys, then a combination.
 *
 * A thread block has up to 16 rows of one key head, so that keys and values are read once for all query heads that share them. It
 * visits its keys in tiles: scores by one thread a key, softmax by one warp for four rows, and the product with V by one thread for
 * two columns. All sums are fp32. Loads do not overlap with arithmetic; several blocks of a multiprocessor do.
 */
#include "decode.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

#define DEVICE static __device__ __forceinline__

enum { THREADS = 128, WARPS = THREADS / 32, WARP_ROWS = DECODE_ROWS / WARPS };

/* Keys of a tile; fewer for the longest heads, so that static shared memory is enough. */
template <int D> struct tile {
	static const int keys = D > 128 ? 32 : 64;
	static const int row = D + 8; /* elements of a row in shared memory: neighbouring rows begin in other banks */
};

/* Two adjacent elements. */
template <bool F16> DEVICE float2 unpack(uint32_t bits)
{
	if (F16)
		return __half22float2(*(const __half2 *)&bits);
	return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
}

template <bool F16> DEVICE void store_element(void *to, int64_t at, float x)
{
	if (F16)
		((__half *)to)[at] = __float2half_rn(x);
	else
		((__nv_bfloat16 *)to)[at] = __float2bfloat16_rn(x);
}

/* A sequence's queries and keys, and the keys that the rows of a block see. */
struct place {
	int q, n_q, k, n_k;
	int rows, first_row;
	int begin, end; /* keys of the sequence: this block's share */
};

/* First and last visible key of query `i` of the sequence, [begin, end). */
DEVICE int seen_end(const struct place &p, int i)
{
	return p.n_k - (p.n_q - 1 - i);
}

DEVICE int seen_begin(const struct decode_job &job, const struct place &p, int i)
{
	return job.window > 0 ? max(0, seen_end(p, i) - job.window) : 0;
}

/* Returns false for a block without rows. */
template <int D> DEVICE bool find_place(const struct decode_job &job, int sequence, int chunk, int split, struct place *p)
{
	p->q = job.cu_q ? job.cu_q[sequence] : 0;
	p->n_q = job.cu_q ? job.cu_q[sequence + 1] - p->q : job.total_q;
	p->k = job.cu_k ? job.cu_k[sequence] : 0;
	p->n_k = job.cu_k ? job.cu_k[sequence + 1] - p->k : job.total_k;
	p->first_row = chunk * DECODE_ROWS;
	p->rows = min(DECODE_ROWS, p->n_q * job.group - p->first_row);
	if (p->rows <= 0)
		return false;
	const int low = seen_begin(job, *p, p->first_row / job.group);
	const int high = seen_end(*p, (p->first_row + p->rows - 1) / job.group);
	const int tiles = (max(high - low, 0) + tile<D>::keys - 1) / tile<D>::keys, share = (tiles + job.splits - 1) / job.splits;
	p->begin = min(high, low + split * share * tile<D>::keys);
	p->end = min(high, p->begin + share * tile<D>::keys);
	return true;
}

/* Row of K and V that has key `key` of the sequence. */
DEVICE int64_t row_of_key(const struct decode_job &job, int sequence, const struct place &p, int key)
{
	if (!job.pages)
		return p.k + key;
	return (int64_t)job.pages[(int64_t)sequence * job.entries + key / job.page] * job.page + key % job.page;
}

/* Load `n` rows of a tile, and zero the others: their weight is 0, which times a stored NaN would be NaN. */
template <int D>
DEVICE void load_tile(uint16_t *to, const struct decode_job &job, const struct decode_tensor &from, int head, int sequence,
	const struct place &p, int key, int n)
{
	const int parts = D / 8;
	for (int i = threadIdx.x; i < tile<D>::keys * parts; i += THREADS) {
		const int row = i / parts, part = i % parts;
		uint4 bits = make_uint4(0, 0, 0, 0);
		if (row < n)
			bits = *(const uint4 *)((const uint16_t *)from.data +
						row_of_key(job, sequence, p, key + row) * from.token + head * from.head +
						part * 8);
		*(uint4 *)(to + row * tile<D>::row + part * 8) = bits;
	}
}

/* Scores in powers of two, -inf for keys that a row does not see. Shape: s[DECODE_ROWS][keys + 1]. */
template <int D, bool F16>
DEVICE void compute_scores(
	float *s, const uint16_t *q, const uint16_t *k, const struct decode_job &job, const struct place &p, int key, int n)
{
	const int keys = tile<D>::keys, parts = THREADS / keys, rows = DECODE_ROWS / parts;
	const int own = threadIdx.x % keys, first = threadIdx.x / keys * rows;
	float sum[rows];
#pragma unroll
	for (int r = 0; r < rows; r++)
		sum[r] = 0;
	for (int d = 0; d < D; d += 8) {
		const uint4 right = *(const uint4 *)(k + own * tile<D>::row + d);
		const float2 b[4] = { unpack<F16>(right.x), unpack<F16>(right.y), unpack<F16>(right.z), unpack<F16>(right.w) };
#pragma unroll
		for (int r = 0; r < rows; r++) {
			const uint4 left = *(const uint4 *)(q + (first + r) * D + d);
			const float2 a[4] = { unpack<F16>(left.x), unpack<F16>(left.y), unpack<F16>(left.z),
				unpack<F16>(left.w) };
#pragma unroll
			for (int i = 0; i < 4; i++)
				sum[r] += a[i].x * b[i].x + a[i].y * b[i].y;
		}
	}
#pragma unroll
	for (int r = 0; r < rows; r++) {
		const int row = first + r, query = (p.first_row + row) / job.group, at = key + own;
		const bool is_seen = row < p.rows && own < n && at < seen_end(p, query) && at >= seen_begin(job, p, query);
		s[row * (keys + 1) + own] = is_seen ? sum[r] * job.scale_log2 : -CUDART_INF_F;
	}
}

/* Convert scores to weights; a row's factor is that of its earlier sums. Each warp has WARP_ROWS rows. */
template <int D> DEVICE void soften(float *s, float *factor, float *top, float *total)
{
	const int keys = tile<D>::keys, lane = threadIdx.x % 32, first = threadIdx.x / 32 * WARP_ROWS;
#pragma unroll
	for (int r = 0; r < WARP_ROWS; r++) {
		float *row = s + (first + r) * (keys + 1), largest = top[r];
		for (int j = lane; j < keys; j += 32)
			largest = fmaxf(largest, row[j]);
		for (int lanes = 16; lanes > 0; lanes /= 2)
			largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
		const float shift = largest == -CUDART_INF_F ? 0.0f : largest; /* no key yet: exp2(-inf) = 0, not NaN */
		const float shrink = exp2f(top[r] - shift);
		float sum = 0;
		for (int j = lane; j < keys; j += 32) {
			const float weight = exp2f(row[j] - shift);
			row[j] = weight;
			sum += weight;
		}
		for (int lanes = 16; lanes > 0; lanes /= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
		top[r] = largest;
		total[r] = total[r] * shrink + sum;
		if (lane == 0)
			factor[first + r] = shrink;
	}
}

template <int D, bool F16>
static __global__ void __launch_bounds__(THREADS) split_kernel(const __grid_constant__ struct decode_job job)
{
	const int keys = tile<D>::keys, groups = THREADS / (D / 2), rows = DECODE_ROWS / groups;
	__shared__ __align__(16) uint16_t q[DECODE_ROWS * D];
	__shared__ __align__(16) uint16_t k[keys * tile<D>::row];
	__shared__ __align__(16) uint16_t v[keys * tile<D>::row];
	__shared__ float s[DECODE_ROWS * (keys + 1)], factor[DECODE_ROWS];
	const int split = blockIdx.x, head = blockIdx.y % job.nhk, chunk = blockIdx.y / job.nhk, sequence = blockIdx.z;
	const int column = threadIdx.x % (D / 2) * 2, first = threadIdx.x / (D / 2) * rows;

	struct place p;
	if (!find_place<D>(job, sequence, chunk, split, &p))
		return;
	for (int i = threadIdx.x; i < DECODE_ROWS * D / 8; i += THREADS) {
		const int row = i / (D / 8), part = i % (D / 8), of = p.first_row + row;
		uint4 bits = make_uint4(0, 0, 0, 0);
		if (row < p.rows)
			bits = *(const uint4 *)((const uint16_t *)job.q.data + (p.q + of / job.group) * job.q.token +
						(head * job.group + of % job.group) * job.q.head + part * 8);
		*(uint4 *)(q + row * D + part * 8) = bits;
	}
	float2 out[rows];
	float top[WARP_ROWS], total[WARP_ROWS];
#pragma unroll
	for (int r = 0; r < rows; r++)
		out[r] = make_float2(0, 0);
#pragma unroll
	for (int r = 0; r < WARP_ROWS; r++) {
		top[r] = -CUDART_INF_F;
		total[r] = 0;
	}
	for (int key = p.begin; key < p.end; key += keys) {
		const int n = min(keys, p.end - key);
		__syncthreads(); /* the previous tile has been read */
		load_tile<D>(k, job, job.k, head, sequence, p, key, n);
		load_tile<D>(v, job, job.v, head, sequence, p, key, n);
		__syncthreads();
		compute_scores<D, F16>(s, q, k, job, p, key, n);
		__syncthreads();
		soften<D>(s, factor, top, total);
		__syncthreads();
#pragma unroll
		for (int r = 0; r < rows; r++) {
			out[r].x *= factor[first + r];
			out[r].y *= factor[first + r];
		}
		for (int j = 0; j < n; j++) {
			const float2 x = unpack<F16>(*(const uint32_t *)(v + j * tile<D>::row + column));
#pragma unroll
			for (int r = 0; r < rows; r++) {
				const float weight = s[(first + r) * (keys + 1) + j];
				out[r].x += weight * x.x;
				out[r].y += weight * x.y;
			}
		}
	}
#pragma unroll
	for (int r = 0; r < rows; r++) {
		const int row = first + r, of = p.first_row + row;
		if (row >= p.rows)
			continue;
		const int64_t at =
			((int64_t)split * job.total_q + p.q + of / job.group) * job.nhq + head * job.group + of % job.group;
		*(float2 *)(job.sum + at * D + column) = out[r];
	}
#pragma unroll
	for (int r = 0; r < WARP_ROWS; r++) {
		const int row = threadIdx.x / 32 * WARP_ROWS + r, of = p.first_row + row;
		if (threadIdx.x % 32 != 0 || row >= p.rows)
			continue;
		job.part[((int64_t)split * job.total_q + p.q + of / job.group) * job.nhq + head * job.group + of % job.group] =
			make_float2(top[r], total[r]);
	}
}

/* One thread block for each query and head, one thread for each element. */
template <bool F16> static __global__ void combine_kernel(const __grid_constant__ struct decode_job job)
{
	const int64_t rows = (int64_t)job.total_q * job.nhq, row = blockIdx.x;
	const int query = (int)(row / job.nhq), head = (int)(row % job.nhq);
	float top = -CUDART_INF_F, total = 0, sum = 0;
	for (int i = 0; i < job.splits; i++)
		top = fmaxf(top, job.part[i * rows + row].x);
	for (int i = 0; i < job.splits; i++) {
		const float2 part = job.part[i * rows + row];
		const float weight =
			part.y > 0 ? exp2f(part.x - top) : 0.0f; /* of a share without a key 0, also if none has one */
		total += weight * part.y;
		sum += weight * job.sum[(i * rows + row) * job.headdim + threadIdx.x];
	}
	store_element<F16>(
		(void *)job.o.data, query * job.o.token + head * job.o.head + threadIdx.x, total > 0 ? sum / total : 0.0f);
	if (threadIdx.x == 0) /* ln 2 converts the base-2 maximum to a natural one */
		job.lse[head * job.lse_head + query] = total > 0 ? top * 0.6931471805599453f + logf(total) : -CUDART_INF_F;
}

template <int D> static void launch_split(const struct decode_job *job, dim3 grid, cudaStream_t stream)
{
	if (job->is_f16)
		split_kernel<D, true><<<grid, THREADS, 0, stream>>>(*job);
	else
		split_kernel<D, false><<<grid, THREADS, 0, stream>>>(*job);
}

cudaError_t decode_split(const struct decode_job *job, cudaStream_t stream)
{
	const dim3 grid((unsigned)job->splits, (unsigned)(job->nhk * job->chunks), (unsigned)job->n_seqs);
	if (job->headdim == 64)
		launch_split<64>(job, grid, stream);
	else if (job->headdim == 128)
		launch_split<128>(job, grid, stream);
	else
		launch_split<256>(job, grid, stream);
	return cudaGetLastError();
}

cudaError_t decode_combine(const struct decode_job *job, cudaStream_t stream)
{
	const unsigned rows = (unsigned)(job->total_q * job->nhq);
	if (job->is_f16)
		combine_kernel<true><<<rows, (unsigned)job->headdim, 0, stream>>>(*job);
	else
		combine_kernel<false><<<rows, (unsigned)job->headdim, 0, stream>>>(*job);
	return cudaGetLastError();
}
