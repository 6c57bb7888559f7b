/**
 * rows.cu - phases PREPROCESS (all stages) and CAST (v0, v1): row-wise work of backward before and after the main kernel.
 *
 *     row_stats[head][slot][row] = LSE[head][slot.x + row] log2(e), rowsum(dO[slot.x + row][head] O[slot.x + row][head])
 *     dQ[slot.x + row][head][8 chunk + 2 t + e] = scale sum[head][slot][sum_fragment(D, row / 16, chunk, 4 g + t) + 2 h + e]
 * A block computes one slot of one head; row % 16 = 8 h + g.
 */
#include "hopper/sm80.h"
#include "job.h"

#include <math_constants.h>

enum { THREADS = 128 };

SM80_DEVICE float dot2(uint32_t a, uint32_t b)
{
	return __uint_as_float(a << 16) * __uint_as_float(b << 16) +
	       __uint_as_float(a & 0xffff0000u) * __uint_as_float(b & 0xffff0000u);
}

/*
 * One block per slot and head: LSE * log2(e) and rowsum(dO * O). Rows without keys and rows past the end get +inf: their P is 0.
 */
template <int D> static __global__ void __launch_bounds__(THREADS) preprocess_kernel(const __grid_constant__ struct job job)
{
	const int chunks = D / 8, pass = THREADS / chunks;
	const int slot = blockIdx.x, head = blockIdx.y, chunk = threadIdx.x % chunks;
	const int2 tokens = job.slots[slot];
	float2 *stats = job.row_stats + ((int64_t)head * job.n_slots + slot) * JOB_STEP;
#pragma unroll
	for (int i = 0; i < JOB_STEP / pass; i++) {
		const int row = i * pass + threadIdx.x / chunks, token = tokens.x + row;
		float sum = 0.0f;
		if (token < tokens.y) {
			const uint4 o = *(const uint4 *)((const __nv_bfloat16 *)job.o.data + token * job.o.token +
							 head * job.o.head + chunk * 8);
			const uint4 d = *(const uint4 *)((const __nv_bfloat16 *)job.grad_o.data + token * job.grad_o.token +
							 head * job.grad_o.head + chunk * 8);
			sum = dot2(o.x, d.x) + dot2(o.y, d.y) + dot2(o.z, d.z) + dot2(o.w, d.w);
		}
#pragma unroll
		for (int lanes = chunks / 2; lanes > 0; lanes /= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
		if (chunk == 0) {
			float lse = token < tokens.y ? job.lse[head * job.lse_head + token] : -CUDART_INF_F;
			bool takes_part = lse != -CUDART_INF_F;
			stats[row] = make_float2(takes_part ? lse * 1.4426950408889634f : CUDART_INF_F, takes_part ? sum : 0.0f);
		}
	}
}

/* One block per slot and head: convert the fp32 sum in fragment order to rows of dQ. */
template <int D> static __global__ void __launch_bounds__(THREADS) cast_kernel(const __grid_constant__ struct job job)
{
	const int chunks = D / 8, pass = THREADS / chunks;
	const int slot = blockIdx.x, head = blockIdx.y, chunk = threadIdx.x % chunks;
	const int2 tokens = job.slots[slot];
	const float *sum = job.grad_q_sum + ((int64_t)head * job.n_slots + slot) * (JOB_STEP * D);
#pragma unroll
	for (int i = 0; i < JOB_STEP / pass; i++) {
		const int row = i * pass + threadIdx.x / chunks, token = tokens.x + row;
		if (token >= tokens.y)
			continue;
		uint32_t out[4];
#pragma unroll
		for (int t = 0; t < 4; t++) {
			const float *pair = sum + sum_fragment(D, row / 16, chunk, row % 8 * 4 + t) + (row % 16 / 8) * 2;
			const float2 v = *(const float2 *)pair;
			out[t] = sm80_pack(v.x * job.scale, v.y * job.scale);
		}
		*(uint4 *)((__nv_bfloat16 *)job.grad_q.data + token * job.grad_q.token + head * job.grad_q.head + chunk * 8) =
			make_uint4(out[0], out[1], out[2], out[3]);
	}
}

cudaError_t rows_preprocess(const struct job *job, cudaStream_t stream)
{
	const dim3 grid((unsigned)job->n_slots, (unsigned)job->nhq);
	if (job->headdim == 64)
		preprocess_kernel<64><<<grid, THREADS, 0, stream>>>(*job);
	else
		preprocess_kernel<128><<<grid, THREADS, 0, stream>>>(*job);
	return cudaGetLastError();
}

cudaError_t rows_cast(const struct job *job, cudaStream_t stream)
{
	const dim3 grid((unsigned)job->n_slots, (unsigned)job->nhq);
	if (job->headdim == 64)
		cast_kernel<64><<<grid, THREADS, 0, stream>>>(*job);
	else
		cast_kernel<128><<<grid, THREADS, 0, stream>>>(*job);
	return cudaGetLastError();
}
