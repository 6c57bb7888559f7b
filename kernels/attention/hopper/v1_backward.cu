/**
 * v1_backward.cu - backward of provider "hopper.v1": dQ, dK, dV with mma.sync.
 * Changes from v0: products run on the tensor cores, Q and dO of the next step are loaded (cp.async) while this one is computed,
 * a tile may have 128 keys, and dQ is added in fragment order, so that a lane adds 16 bytes at once. A thread block owns 64 or
 * 128 keys of one key head (2 or 4 pairs of warps) and traverses, for every query head of the group, the 64-query steps that see
 * these keys. So dK and dV stay in registers from the first step to the last and are written once: the same bits on every run.
 *
 *     dK[first + row][kv_head][column] += dS[j][row] Q[query + j][head][column]
 *
 * Lane 4 g + t of warp 2 part + half: row = 32 part + 16 m + 8 h + g, column = D / 2 half + 8 n + 2 t + e, accumulator grad_k[m][n][2 h + e].
 * A step has two halves with a barrier between them. First S = Q K^T, dP = dO V^T, each warp 32 queries x 32 keys; P = exp2(S c -
 * LSE), dS = P (dP - delta) are stored in shared memory. Then dV += P^T dO, dK += dS^T Q (each warp 32 keys x half of the
 * columns) and dQ = dS K.
 */
#include "hopper/launch.h"
#include "hopper/sm80.h"
#include "v1.h"

#include <math_constants.h>

template <int D, int KEYS> struct backward_shared {
	static const int row = D * 2;                   /* bytes per row of Q, K, V, dO */
	static const int p_row = KEYS * 2;              /* bytes per row of P and dS */
	static const int threads = KEYS * 2;            /* each warp computes 32x32 of the 64 x KEYS scores */
	static const int step = JOB_STEP * row;         /* bytes of a Q or dO tile */
	static const int stats_step = JOB_STEP * 8;     /* bytes of a step's row statistics */
	static const int k = 0;                         /* [KEYS][D] */
	static const int v = k + KEYS * row;            /* [KEYS][D] */
	static const int q = v + KEYS * row;            /* [2][64][D] */
	static const int grad_o = q + 2 * step;         /* [2][64][D] */
	static const int p = grad_o + 2 * step;         /* [64][KEYS] */
	static const int ds = p + JOB_STEP * p_row;     /* [64][KEYS] */
	static const int stats = ds + JOB_STEP * p_row; /* [2][64] float2 */
	static const int bytes = stats + 2 * stats_step;
};

/* Start copying ROWS rows, to[row][8 chunk ..] = from[first + row][8 chunk ..]; rows from `end` on become zeros. */
template <int D, int ROWS, int THREADS>
SM80_DEVICE void copy_rows(uint32_t to, const __nv_bfloat16 *from, int64_t stride, int first, int end, int tid)
{
	const int chunks = D / 8, pass = THREADS / chunks;
	int row = tid / chunks, chunk = tid % chunks, left = end - first - row;
	const __nv_bfloat16 *source = from + (int64_t)(first + row) * stride + chunk * 8;
	uint32_t target = to + row * (D * 2) + ((chunk ^ (row & 7)) << 4);
	int64_t advance = stride * pass;
	asm volatile("" : "+l"(advance)); /* or the compiler would hold every multiple of it in registers through the main loop */
#pragma unroll
	for (int i = 0; i < ROWS / pass; i++) {
		sm80_copy16(target + i * pass * (D * 2), source, i * pass < left);
		source += advance;
	}
}

/* First query of a step. */
SM80_DEVICE int query_of_step(const struct job &job, int inner, int step)
{
	if (!job.block)
		return inner + step * JOB_STEP;
	int parts = job.block / JOB_STEP; /* 1 or 2 */
	return job.list[~inner + (step >> (parts - 1))] * job.block + (step & (parts - 1)) * JOB_STEP;
}

/* Start copying Q, dO and the row statistics of one step. */
template <int D, int KEYS>
SM80_DEVICE void copy_step(
	const struct job &job, uint32_t base, uint32_t stage, int head, int query, int slot_bias, int end, int tid)
{
	typedef backward_shared<D, KEYS> shared;
	copy_rows<D, JOB_STEP, shared::threads>(base + shared::q + stage * shared::step,
		(const __nv_bfloat16 *)job.q.data + head * job.q.head, job.q.token, query, end, tid);
	copy_rows<D, JOB_STEP, shared::threads>(base + shared::grad_o + stage * shared::step,
		(const __nv_bfloat16 *)job.grad_o.data + head * job.grad_o.head, job.grad_o.token, query, end, tid);
	if (tid < 32) {
		const int64_t slot = (int64_t)head * job.n_slots + ((query + slot_bias) / JOB_STEP);
		sm80_copy16(base + shared::stats + stage * shared::stats_step + tid * 16,
			job.row_stats + slot * JOB_STEP + tid * 2, true);
	}
}

/* s = A B^T over D for 32 rows of A and 32 rows of B: a warp's tile of S or dP. */
template <int D> SM80_DEVICE void scores(float s[2][4][4], uint32_t a_tile, uint32_t b_tile)
{
#pragma unroll
	for (int m = 0; m < 2; m++)
#pragma unroll
		for (int n = 0; n < 4; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[m][n][i] = 0.0f;
#pragma unroll
	for (int kk = 0; kk < D / 16; kk++) {
		uint32_t a[2][4];
#pragma unroll
		for (int m = 0; m < 2; m++)
			sm80_load4(a[m], (a_tile ^ (kk << 5)) + m * 16 * (D * 2));
#pragma unroll
		for (int n = 0; n < 2; n++) {
			uint32_t b[4];
			sm80_load4(b, (b_tile ^ (kk << 5)) + n * 16 * (D * 2));
#pragma unroll
			for (int m = 0; m < 2; m++) {
				sm80_mma(s[m][2 * n], a[m], b[0], b[1]);
				sm80_mma(s[m][2 * n + 1], a[m], b[2], b[3]);
			}
		}
	}
}

/* c += A^T B over 64 queries: 32 keys of P or dS, half of the columns of dO or Q. */
template <int D, int KEYS> SM80_DEVICE void transposed_product(float c[2][D / 16][4], uint32_t a_tile, uint32_t b_tile)
{
#pragma unroll
	for (int kk = 0; kk < JOB_STEP / 16; kk++) {
		uint32_t a[2][4];
#pragma unroll
		for (int m = 0; m < 2; m++)
			sm80_load4_transposed(a[m], (a_tile ^ (m << 5)) + kk * 16 * (KEYS * 2));
#pragma unroll
		for (int n = 0; n < D / 32; n++) {
			uint32_t b[4];
			sm80_load4_transposed(b, (b_tile ^ (n << 5)) + kk * 16 * (D * 2));
#pragma unroll
			for (int m = 0; m < 2; m++) {
				sm80_mma(c[m][2 * n], a[m], b[0], b[1]);
				sm80_mma(c[m][2 * n + 1], a[m], b[2], b[3]);
			}
		}
	}
}

/* The tile of thread block `block`; first < 0: none. */
SM80_DEVICE struct tile own_tile(const struct job &job, unsigned block, int *kv_head)
{
	struct place place;
	struct tile none = { -1, -1, 0, 0, 0, 0, 0, 0 };
	if (!job_place(&job, 1, block, &place))
		return none;
	*kv_head = place.kv_head;
	return job.tiles[(job.block ? place.kv_head * job.n_tiles : 0) + place.tile];
}

/* Computed again instead of stored: rarely used values would take registers that the main loop needs. */
SM80_DEVICE struct tile own_tile_again(const struct job &job, int *kv_head)
{
	unsigned block = blockIdx.x;
	asm volatile("" : "+r"(block)); /* hides from the compiler that the result is known */
	return own_tile(job, block, kv_head);
}

template <int D, int KEYS>
__global__ void __launch_bounds__(KEYS * 2, KEYS == 64 ? 2 : 1) v1_backward_kernel(const __grid_constant__ struct job job)
{
	typedef backward_shared<D, KEYS> shared;
	const int threads = shared::threads, parts = KEYS / 32; /* number of warps along the keys */
	const int q_n = D / parts / 8;                          /* 8-column tiles of dQ per warp */
	extern __shared__ __align__(1024) unsigned char memory[];
	const uint32_t base = sm80_shared(memory);
	const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, t = lane % 4;
	const int half = warp & 1, part = warp >> 1;

	int kv_head = 0;
	const struct tile tile = own_tile(job, blockIdx.x, &kv_head);
	if (tile.first < 0)
		return;

	float grad_k[2][D / 16][4], grad_v[2][D / 16][4];
#pragma unroll
	for (int m = 0; m < 2; m++)
#pragma unroll
		for (int n = 0; n < D / 16; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				grad_k[m][n][i] = grad_v[m][n][i] = 0.0f;

	const int steps = tile.steps, inner = tile.inner, inner_end = tile.inner_end;
	/* Queries from here on see all keys of the tile; a partial tile is masked in every step. */
	const int clean_from = tile.first + KEYS > tile.end ? 0x7fffffff : tile.first + KEYS - 1 - tile.diagonal;
	const int slot_bias = job.block ? 0 : tile.slot * JOB_STEP - inner; /* slot = (query + slot_bias) / 64 */
	int remaining = steps * job.group;                                  /* remaining steps, including this one */
	int head = kv_head * job.group, query = 0;                          /* query of the current step */
	int next_head = head, next_step = 0, next_query = 0;                /* query of the step that is being copied */
	int ahead_query = 0; /* query of the step after that: read early to hide latency */
	uint32_t stage = 0;

	if (remaining > 0) {
		copy_rows<D, KEYS, threads>(base + shared::k, (const __nv_bfloat16 *)job.k.data + kv_head * job.k.head,
			job.k.token, tile.first, tile.end, tid);
		copy_rows<D, KEYS, threads>(base + shared::v, (const __nv_bfloat16 *)job.v.data + kv_head * job.v.head,
			job.v.token, tile.first, tile.end, tid);
		next_query = query_of_step(job, inner, 0);
		copy_step<D, KEYS>(job, base, 0, next_head, next_query, slot_bias, inner_end, tid);
		sm80_copy_commit();
		ahead_query = query_of_step(job, inner, steps > 1 ? 1 : 0);
	}

	/*
	 * Lanes' addresses for ldmatrix: rows of 16 with adjacent chunks, rows of 2 x 8 below each other; wide rows, score rows.
	 */
	const uint32_t wide_lane = (lane & 15) * shared::row + (((lane >> 4) ^ (lane & 7)) << 4);
	const uint32_t tall_lane = ((lane & 7) + ((lane >> 4) << 3)) * shared::row + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);
	const uint32_t score_wide_lane = (lane & 15) * shared::p_row + (((lane >> 4) ^ (lane & 7)) << 4);
	const uint32_t score_tall_lane =
		((lane & 7) + ((lane >> 4) << 3)) * shared::p_row + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);

#pragma unroll 1
	for (; remaining > 0; remaining--) {
		sm80_copy_wait();
		__syncthreads(); /* this step's tiles are loaded; the previous step no longer uses P, dS and the other stage */
		head = next_head;
		query = next_query;
		if (remaining > 1) {
			next_query = ahead_query;
			if (++next_step == steps) {
				next_step = 0;
				next_head++;
			}
			copy_step<D, KEYS>(job, base, stage ^ 1, next_head, next_query, slot_bias, inner_end, tid);
			sm80_copy_commit();
			ahead_query = query_of_step(job, inner, next_step + 1 < steps ? next_step + 1 : 0);
		}

		{
			float s[2][4][4];
			const uint32_t q_tile = base + shared::q + stage * shared::step + half * 32 * shared::row + wide_lane;
			const uint32_t k_tile = base + shared::k + part * 32 * shared::row + tall_lane;
			scores<D>(s, q_tile, k_tile);
			if (query < clean_from) {
				int own_head;
				const struct tile own = own_tile_again(job, &own_head);
#pragma unroll
				for (int r = 0; r < 4; r++) {
					int token = query + half * 32 + r * 8 + g;
					int last = min(own.end - 1, token + own.diagonal) - own.first - part * 32 - 2 * t;
#pragma unroll
					for (int n = 0; n < 4; n++)
#pragma unroll
						for (int e = 0; e < 2; e++)
							if (n * 8 + e > last)
								s[r / 2][n][(r & 1) * 2 + e] = -CUDART_INF_F;
				}
			}
			const uint32_t stats = base + shared::stats + stage * shared::stats_step + (half * 32 + g) * 8;
			const uint32_t to = (half * 32 + g) * shared::p_row + t * 4;
			float delta[4];
#pragma unroll
			for (int r = 0; r < 4; r++) {
				const float2 stat = sm80_load_shared_pair(stats + r * 8 * 8);
				const int m = r / 2, h = (r & 1) * 2;
				delta[r] = stat.y;
#pragma unroll
				for (int n = 0; n < 4; n++) {
					s[m][n][h] = sm80_exp2(fmaf(s[m][n][h], job.scale_log2, -stat.x));
					s[m][n][h + 1] = sm80_exp2(fmaf(s[m][n][h + 1], job.scale_log2, -stat.x));
					sm80_store_shared(
						base + shared::p + to + r * 8 * shared::p_row + (((part * 4 + n) ^ g) << 4),
						sm80_pack(s[m][n][h], s[m][n][h + 1]));
				}
			}
			float dp[2][4][4];
			scores<D>(dp, q_tile + (shared::grad_o - shared::q), k_tile + (shared::v - shared::k));
#pragma unroll
			for (int r = 0; r < 4; r++) {
				const int m = r / 2, h = (r & 1) * 2;
#pragma unroll
				for (int n = 0; n < 4; n++)
					sm80_store_shared(
						base + shared::ds + to + r * 8 * shared::p_row + (((part * 4 + n) ^ g) << 4),
						sm80_pack(s[m][n][h] * (dp[m][n][h] - delta[r]),
							s[m][n][h + 1] * (dp[m][n][h + 1] - delta[r])));
			}
		}
		__syncthreads();

		{
			const uint32_t p_tile = (base + shared::p + score_tall_lane) ^ (part << 6);
			const uint32_t o_tile =
				(base + shared::grad_o + stage * shared::step + wide_lane) ^ (half * (D / 16) << 4);
			transposed_product<D, KEYS>(grad_v, p_tile, o_tile);
			transposed_product<D, KEYS>(
				grad_k, p_tile + (shared::ds - shared::p), o_tile - (shared::grad_o - shared::q));
		}
		{
			float grad_q[2][q_n][4];
			const uint32_t ds_tile = base + shared::ds + half * 32 * shared::p_row + score_wide_lane;
			const uint32_t k_tile = (base + shared::k + wide_lane) ^ (part * q_n << 4);
#pragma unroll
			for (int m = 0; m < 2; m++)
#pragma unroll
				for (int n = 0; n < q_n; n++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						grad_q[m][n][i] = 0.0f;
#pragma unroll
			for (int kk = 0; kk < KEYS / 16; kk++) {
				uint32_t a[2][4];
#pragma unroll
				for (int m = 0; m < 2; m++)
					sm80_load4(a[m], (ds_tile ^ (kk << 5)) + m * 16 * shared::p_row);
#pragma unroll
				for (int n = 0; n < q_n / 2; n++) {
					uint32_t b[4];
					sm80_load4_transposed(b, (k_tile ^ (n << 5)) + kk * 16 * shared::row);
#pragma unroll
					for (int m = 0; m < 2; m++) {
						sm80_mma(grad_q[m][2 * n], a[m], b[0], b[1]);
						sm80_mma(grad_q[m][2 * n + 1], a[m], b[2], b[3]);
					}
				}
			}
			const int64_t slot = (int64_t)head * job.n_slots + ((query + slot_bias) / JOB_STEP);
			float *sum = job.grad_q_sum + slot * (JOB_STEP * D) + sum_fragment(D, half * 2, part * q_n, lane);
#pragma unroll
			for (int m = 0; m < 2; m++)
#pragma unroll
				for (int n = 0; n < q_n; n++)
					sm80_add4(sum + sum_fragment(D, m, n, 0), grad_q[m][n]);
		}
		stage ^= 1;
	}

	const struct tile own = own_tile_again(job, &kv_head);
#pragma unroll
	for (int r = 0; r < 4; r++) {
		const int m = r / 2, h = (r & 1) * 2, key = own.first + part * 32 + r * 8 + g;
		if (key >= own.end)
			continue;
		const int column = half * (D / 2) + t * 2;
		__nv_bfloat16 *to_k =
			(__nv_bfloat16 *)job.grad_k.data + key * job.grad_k.token + kv_head * job.grad_k.head + column;
		__nv_bfloat16 *to_v =
			(__nv_bfloat16 *)job.grad_v.data + key * job.grad_v.token + kv_head * job.grad_v.head + column;
#pragma unroll
		for (int n = 0; n < D / 16; n++) {
			*(uint32_t *)(to_k + n * 8) = sm80_pack(grad_k[m][n][h] * job.scale, grad_k[m][n][h + 1] * job.scale);
			*(uint32_t *)(to_v + n * 8) = sm80_pack(grad_v[m][n][h], grad_v[m][n][h + 1]);
		}
	}
}

static const void *kernel_of(const struct job *job)
{
	if (job->headdim == 64)
		return job->outer_rows == 64 ? (const void *)v1_backward_kernel<64, 64>
					     : (const void *)v1_backward_kernel<64, 128>;
	return job->outer_rows == 64 ? (const void *)v1_backward_kernel<128, 64> : (const void *)v1_backward_kernel<128, 128>;
}

static int shared_bytes(const struct job *job)
{
	if (job->headdim == 64)
		return job->outer_rows == 64 ? backward_shared<64, 64>::bytes : backward_shared<64, 128>::bytes;
	return job->outer_rows == 64 ? backward_shared<128, 64>::bytes : backward_shared<128, 128>::bytes;
}

static cudaError_t setup(const struct job *job)
{
	return launch_allow_all(kernel_of(job), shared_bytes(job));
}

static cudaError_t run(const struct job *job, cudaStream_t stream)
{
	return launch(kernel_of(job), job_items(job, 1), job->outer_rows * 2, shared_bytes(job), job, stream);
}

const struct main_kernel v1_backward = { shared_bytes, setup, run };
