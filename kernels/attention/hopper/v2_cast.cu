/**
 * v2_cast.cu - phase CAST of provider "hopper.v2": conversion of the fp32 sums of v2_backward to rows of dQ and, if a group was
 * computed in parts, of dK and dV.
 * Changes from v1 (rows.cu): a warp reads the fragments of 16 rows in memory order, 512 bytes at a time, and transposes them to
 * rows in shared memory.
 *
 *     dQ[slot.x + row][head][column] = scale sum[head][slot][sum_fragment(D, warp, n, lane) + 2 r + e]
 *
 * Lane 4 g + t: row = 16 warp + 8 r + g, column = 8 n + 2 t + e.
 */
#include "hopper/sm80.h"
#include "v2.h"

enum { THREADS = 128, ROW_PAD = 16 }; /* padding of a row in bytes, so that the rows of a fragment are in different banks */

/* One block per slot and head, a warp for every 16 of its 64 rows. */
template <int D> static __global__ void __launch_bounds__(THREADS) v2_cast_kernel(const __grid_constant__ struct job job)
{
	const int row_bytes = D * 2 + ROW_PAD, chunks = D / 8, pass = 32 / chunks;
	__shared__ __align__(16) unsigned char rows[THREADS / 32][16 * row_bytes];
	const int slot = blockIdx.x, head = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const int2 tokens = job.slots[slot];
	const float *sum = job.grad_q_sum + ((int64_t)head * job.n_slots + slot) * (JOB_STEP * D);
	unsigned char *own = rows[warp];

	if (tokens.x + warp * 16 >= tokens.y)
		return;
#pragma unroll
	for (int n = 0; n < D / 8; n++) {
		const float4 v = *(const float4 *)(sum + sum_fragment(D, warp, n, lane));
		unsigned char *to = own + lane / 4 * row_bytes + n * 16 + lane % 4 * 4;
		*(uint32_t *)to = sm80_pack(v.x * job.scale, v.y * job.scale);
		*(uint32_t *)(to + 8 * row_bytes) = sm80_pack(v.z * job.scale, v.w * job.scale);
	}
	__syncwarp();
#pragma unroll
	for (int i = 0; i < 16 / pass; i++) {
		const int row = i * pass + lane / chunks, chunk = lane % chunks, token = tokens.x + warp * 16 + row;
		if (token < tokens.y)
			*(uint4 *)((__nv_bfloat16 *)job.grad_q.data + token * job.grad_q.token + head * job.grad_q.head +
				   chunk * 8) = *(const uint4 *)(own + row * row_bytes + chunk * 16);
	}
}

/*
 * One block for 64 keys of one key head and one of dV, dK. A thread adds the values that the same thread of v2_backward wrote for
 * every part, first part first: bitwise equal on every run.
 */
template <int D>
static __global__ void __launch_bounds__(THREADS)
	v2_cast_keys_kernel(const __grid_constant__ struct job job, const float *grad_kv)
{
	const int parts = job.outer_rows / 64, place = blockIdx.x / parts, part = blockIdx.x % parts, kv_head = blockIdx.y,
		  which = blockIdx.z;
	const struct tile tile = job.tiles[(job.block ? kv_head * job.n_tiles : 0) + place];
	if (tile.first < 0)
		return;
	const int64_t tile_floats = (int64_t)2 * job.outer_rows * D, part_floats = tile_floats * job.n_tiles;
	const float *from = grad_kv + (int64_t)kv_head * job.parts * part_floats + place * tile_floats +
			    ((int64_t)which * job.outer_rows + part * 64) * D + threadIdx.x * 4;
	const float scale = which ? job.scale : 1.0f;
	const struct tensor &to = which ? job.grad_k : job.grad_v;
	const int lane = threadIdx.x % 32, key = tile.first + part * 64 + threadIdx.x / 32 * 16 + lane / 4;
	__nv_bfloat16 *row = (__nv_bfloat16 *)to.data + key * to.token + kv_head * to.head + lane % 4 * 2;
#pragma unroll 4
	for (int n = 0; n < D / 8; n++) {
		float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
		for (int i = 0; i < job.parts; i++) {
			const float4 v = *(const float4 *)(from + i * part_floats + n * THREADS * 4);
			sum.x += v.x;
			sum.y += v.y;
			sum.z += v.z;
			sum.w += v.w;
		}
		if (key < tile.end)
			*(uint32_t *)(row + 8 * n) = sm80_pack(sum.x * scale, sum.y * scale);
		if (key + 8 < tile.end)
			*(uint32_t *)(row + 8 * to.token + 8 * n) = sm80_pack(sum.z * scale, sum.w * scale);
	}
}

static cudaError_t cast_queries(const struct job *job, cudaStream_t stream)
{
	const dim3 grid((unsigned)job->n_slots, (unsigned)job->nhq);
	if (job->headdim == 64)
		v2_cast_kernel<64><<<grid, THREADS, 0, stream>>>(*job);
	else
		v2_cast_kernel<128><<<grid, THREADS, 0, stream>>>(*job);
	return cudaGetLastError();
}

static cudaError_t cast_keys(const struct job *job, cudaStream_t stream)
{
	const dim3 grid((unsigned)(job->n_tiles * (job->outer_rows / 64)), (unsigned)job->nhk, 2);
	if (job->headdim == 64)
		v2_cast_keys_kernel<64><<<grid, THREADS, 0, stream>>>(*job, v2_of(job)->grad_kv);
	else
		v2_cast_keys_kernel<128><<<grid, THREADS, 0, stream>>>(*job, v2_of(job)->grad_kv);
	return cudaGetLastError();
}

cudaError_t v2_cast(const struct job *job, cudaStream_t stream)
{
	const cudaError_t e = job->passes == 2 ? cudaSuccess : cast_queries(job, stream);
	return e == cudaSuccess && job->parts > 1 ? cast_keys(job, stream) : e;
}
