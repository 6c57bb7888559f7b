/**
 * v1_forward.cu - forward of provider "hopper.v1": online softmax over 64-key steps with mma.sync.
 * Changes from v0: products run on the tensor cores, P stays in registers, and K and V of the next step are loaded (cp.async)
 * while this one is computed, so that a step has one barrier. A thread block has 4 warps of 32 rows. Its 128 rows are 64 queries
 * of two heads that share a key head, so that block masks of 64 and short sequences waste no rows; odd groups take 128 queries of
 * one head.
 *
 *     O[first + row % outer_rows][first_head + row / outer_rows][column] += P[row][j] V[key + j][kv_head][column]
 *
 * Lane 4 g + t: row = 32 warp + 16 m + 8 h + g, column = 8 n + 2 t + e, accumulator out[m][n][2 h + e].
 */
#include "hopper/launch.h"
#include "hopper/sm80.h"
#include "v1.h"

#include <math_constants.h>

enum { THREADS = 128, WARP_ROWS = 32, M_TILES = WARP_ROWS / 16, N_TILES = JOB_STEP / 8 };

template <int D> struct forward_shared {
	static const int row = D * 2;                /* bytes per row */
	static const int q = 0;                      /* [128][D], later the staged O */
	static const int tile = JOB_STEP * row;      /* bytes of a K or V tile */
	static const int k = JOB_FORWARD_ROWS * row; /* [2][64][D] */
	static const int v = k + 2 * tile;           /* [2][64][D] */
	static const int bytes = v + 2 * tile;
};

/* First key of a step. */
SM80_DEVICE int key_of_step(const struct job &job, int inner, int step)
{
	if (!job.block)
		return inner + step * JOB_STEP;
	int parts = job.block / JOB_STEP; /* 1 or 2 */
	return job.list[~inner + (step >> (parts - 1))] * job.block + (step & (parts - 1)) * JOB_STEP;
}

/*
 * Position of a block's rows; keys below clean_end are seen by all of them. In shared memory, because the main loop needs every
 * register.
 */
struct rows {
	int first, end, diagonal, key_end, inner, steps, clean_end, first_head, head_end;
};

/*
 * Start copying 64 rows of K or V: this thread's chunk of every pass-th row. Rows from `left` on become zeros, so that a product
 * never reads rows of another sequence.
 */
template <int D> SM80_DEVICE void copy_keys(uint32_t target, const __nv_bfloat16 *source, int64_t stride, int left)
{
	const int pass = THREADS / (D / 8);
	int64_t advance = stride * pass;
	asm volatile("" : "+l"(advance)); /* or the compiler would hold every multiple of it in registers through the main loop */
#pragma unroll
	for (int i = 0; i < JOB_STEP / pass; i++) {
		sm80_copy16(target + i * pass * (D * 2), source, i * pass < left);
		source += advance;
	}
}

template <int D> __global__ void __launch_bounds__(THREADS, 2) v1_forward_kernel(const __grid_constant__ struct job job)
{
	typedef forward_shared<D> shared;
	extern __shared__ __align__(1024) unsigned char memory[];
	const uint32_t base = sm80_shared(memory);
	const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, t = lane % 4;

	struct place place;
	if (!job_place(&job, job_forward_units(&job), blockIdx.x, &place))
		return;
	const struct tile tile = job.tiles[(job.block ? place.kv_head * job.n_tiles : 0) + place.tile];
	if (tile.first < 0)
		return;
	__shared__ volatile struct rows rows;
	if (tid == 0) {
		rows.first = tile.first;
		rows.end = tile.end;
		rows.diagonal = tile.diagonal;
		rows.key_end = tile.inner_end;
		rows.inner = tile.inner;
		rows.steps = tile.steps;
		rows.clean_end = min(tile.inner_end, tile.first + tile.diagonal + 1);
		rows.first_head = place.kv_head * job.group + place.unit * job.heads;
		rows.head_end = (place.kv_head + 1) * job.group;
	}
	__syncthreads();
	const int steps = tile.steps;
	const int token_mask = job.outer_rows - 1, head_shift = job.outer_rows == 64 ? 6 : 7;

	/*
	 * The chunks that this thread copies in every step: K[key + copy_row + pass i][kv_head][8 copy_chunk ..], and the same of
	 * V.
	 */
	const int copy_row = tid / (D / 8), copy_chunk = tid % (D / 8);
	const uint32_t copy_target = base + shared::k + copy_row * shared::row + ((copy_chunk ^ (copy_row & 7)) << 4);
	const __nv_bfloat16 *keys =
		(const __nv_bfloat16 *)job.k.data + place.kv_head * job.k.head + copy_row * job.k.token + copy_chunk * 8;
	const __nv_bfloat16 *values =
		(const __nv_bfloat16 *)job.v.data + place.kv_head * job.v.head + copy_row * job.v.token + copy_chunk * 8;

	int key = 0, next_key = 0;
	if (steps > 0) {
		const int chunks = D / 8, pass = THREADS / chunks, chunk = tid % chunks;
		const int first_head = rows.first_head, head_end = rows.head_end;
		/* q[row][8 chunk ..] = Q[first + row % outer_rows][first_head + row / outer_rows][8 chunk ..] */
#pragma unroll 4
		for (int row = tid / chunks; row < JOB_FORWARD_ROWS; row += pass) {
			int token = tile.first + (row & token_mask), head = first_head + (row >> head_shift);
			bool valid = token < tile.end && head < head_end;
			const __nv_bfloat16 *source = (const __nv_bfloat16 *)job.q.data;
			if (valid)
				source += token * job.q.token + head * job.q.head + chunk * 8;
			sm80_copy16(base + shared::q + row * shared::row + ((chunk ^ (row & 7)) << 4), source, valid);
		}
		next_key = key_of_step(job, tile.inner, 0);
		copy_keys<D>(copy_target, keys + next_key * job.k.token, job.k.token, rows.key_end - tid / (D / 8) - next_key);
		copy_keys<D>(copy_target + 2 * shared::tile, values + next_key * job.v.token, job.v.token,
			rows.key_end - tid / (D / 8) - next_key);
		sm80_copy_commit();
		key = next_key;
		if (steps > 1)
			next_key = key_of_step(job, tile.inner, 1);
	}

	/* Addresses of this lane for ldmatrix: A of Q, B of K (two 8-key tiles), B of V (two 8-column tiles). */
	uint32_t q_lane = base + shared::q + (warp * WARP_ROWS + (lane & 15)) * shared::row + (((lane >> 4) ^ (lane & 7)) << 4);
	const uint32_t k_lane =
		base + shared::k + ((lane & 7) + ((lane >> 4) << 3)) * shared::row + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);
	const uint32_t v_lane = base + shared::v + (lane & 15) * shared::row + (((lane >> 4) ^ (lane & 7)) << 4);

	float out[M_TILES][D / 8][4], row_max[M_TILES * 2], row_sum[M_TILES * 2];
#pragma unroll
	for (int m = 0; m < M_TILES; m++)
#pragma unroll
		for (int n = 0; n < D / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				out[m][n][i] = 0.0f;
#pragma unroll
	for (int r = 0; r < M_TILES * 2; r++) {
		row_max[r] = -CUDART_INF_F;
		row_sum[r] = 0.0f;
	}

#pragma unroll 1
	for (int step = 0; step < rows.steps; step++) {
		const uint32_t stage = (step & 1) * shared::tile;
		sm80_copy_wait();
		__syncthreads();
		const int this_key = key;
		if (step + 1 < rows.steps) {
			const uint32_t other = shared::tile - stage;
			copy_keys<D>(copy_target + other, keys + next_key * job.k.token, job.k.token,
				rows.key_end - tid / (D / 8) - next_key);
			copy_keys<D>(copy_target + other + 2 * shared::tile, values + next_key * job.v.token, job.v.token,
				rows.key_end - tid / (D / 8) - next_key);
			sm80_copy_commit();
			key = next_key;
			if (step + 2 < rows.steps) /* read one step early to hide latency */
				next_key = key_of_step(job, rows.inner, step + 2);
		}

		float s[M_TILES][N_TILES][4];
#pragma unroll
		for (int m = 0; m < M_TILES; m++)
#pragma unroll
			for (int n = 0; n < N_TILES; n++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					s[m][n][i] = 0.0f;
#pragma unroll
		for (int kk = 0; kk < D / 16; kk++) {
			uint32_t a[M_TILES][4];
#pragma unroll
			for (int m = 0; m < M_TILES; m++)
				sm80_load4(a[m], (q_lane ^ (kk << 5)) + m * 16 * shared::row);
#pragma unroll
			for (int n = 0; n < N_TILES / 2; n++) {
				uint32_t b[4];
				sm80_load4(b, ((k_lane + stage) ^ (kk << 5)) + n * 16 * shared::row);
#pragma unroll
				for (int m = 0; m < M_TILES; m++) {
					sm80_mma(s[m][2 * n], a[m], b[0], b[1]);
					sm80_mma(s[m][2 * n + 1], a[m], b[2], b[3]);
				}
			}
		}

		if (this_key + JOB_STEP > rows.clean_end) {
			const int warp_token = rows.first + ((warp * WARP_ROWS) & token_mask), diagonal = rows.diagonal,
				  key_end = rows.key_end;
#pragma unroll
			for (int r = 0; r < M_TILES * 2; r++) {
				int token = warp_token + (r / 2) * 16 + (r & 1) * 8 + g;
				int last = min(key_end - 1, token + diagonal) - this_key - 2 * t;
#pragma unroll
				for (int n = 0; n < N_TILES; n++)
#pragma unroll
					for (int e = 0; e < 2; e++)
						if (n * 8 + e > last)
							s[r / 2][n][(r & 1) * 2 + e] = -CUDART_INF_F;
			}
		}

		/* The C fragments of two neighbouring 8-key tiles are the A fragment of one 16-key product. */
		uint32_t p[M_TILES][N_TILES / 2][4];
#pragma unroll
		for (int r = 0; r < M_TILES * 2; r++) {
			const int m = r / 2, h = (r & 1) * 2;
			float top = row_max[r];
#pragma unroll
			for (int n = 0; n < N_TILES; n++)
				top = fmaxf(top, fmaxf(s[m][n][h], s[m][n][h + 1]));
			top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
			top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
			const float shift =
				top == -CUDART_INF_F ? 0.0f : top * job.scale_log2; /* no key yet: exp2(-inf) = 0, not NaN */
			const float shrink = sm80_exp2(fmaf(row_max[r], job.scale_log2, -shift));
			row_max[r] = top;
			float sum = 0.0f;
#pragma unroll
			for (int n = 0; n < N_TILES; n++) {
				const float left = sm80_exp2(fmaf(s[m][n][h], job.scale_log2, -shift));
				const float right = sm80_exp2(fmaf(s[m][n][h + 1], job.scale_log2, -shift));
				sum += left + right;
				p[m][n / 2][(n & 1) * 2 + (r & 1)] = sm80_pack(left, right);
			}
			row_sum[r] = row_sum[r] * shrink + sum;
#pragma unroll
			for (int n = 0; n < D / 8; n++) {
				out[m][n][h] *= shrink;
				out[m][n][h + 1] *= shrink;
			}
		}

#pragma unroll
		for (int n = 0; n < D / 16; n++) {
#pragma unroll
			for (int kk = 0; kk < JOB_STEP / 16; kk++) {
				uint32_t b[4];
				sm80_load4_transposed(b, ((v_lane + stage) ^ (n << 5)) + kk * 16 * shared::row);
#pragma unroll
				for (int m = 0; m < M_TILES; m++) {
					sm80_mma(out[m][2 * n], p[m][kk], b[0], b[1]);
					sm80_mma(out[m][2 * n + 1], p[m][kk], b[2], b[3]);
				}
			}
		}
	}

	/* The warp's own rows of Q are free now: stage O there, so that it is stored in whole rows. */
	const int warp_token = rows.first + ((warp * WARP_ROWS) & token_mask), token_end = rows.end;
	const int head = rows.first_head + ((warp * WARP_ROWS) >> head_shift), head_end = rows.head_end;
	__syncwarp();
#pragma unroll
	for (int r = 0; r < M_TILES * 2; r++) {
		const int m = r / 2, h = (r & 1) * 2, row = m * 16 + (r & 1) * 8 + g;
		float sum = row_sum[r];
		sum += __shfl_xor_sync(0xffffffffu, sum, 1);
		sum += __shfl_xor_sync(0xffffffffu, sum, 2);
		const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
		const uint32_t to = base + shared::q + (warp * WARP_ROWS + row) * shared::row + t * 4;
#pragma unroll
		for (int n = 0; n < D / 8; n++)
			sm80_store_shared(
				to + ((n ^ (row & 7)) << 4), sm80_pack(out[m][n][h] * inverse, out[m][n][h + 1] * inverse));
		if (t == 0 && warp_token + row < token_end && head < head_end)
			job.lse[head * job.lse_head + warp_token + row] =
				sum > 0.0f ? row_max[r] * job.scale + logf(sum) : -CUDART_INF_F;
	}
	__syncwarp();
	/* O[warp_token + row][head][8 chunk ..] */
	const int chunks = D / 8, chunk = lane % chunks;
	if (head < head_end) {
		for (int row = lane / chunks; row < WARP_ROWS && warp_token + row < token_end; row += 32 / chunks) {
			uint4 bits = sm80_load_shared16(
				base + shared::q + (warp * WARP_ROWS + row) * shared::row + ((chunk ^ (row & 7)) << 4));
			__nv_bfloat16 *to =
				(__nv_bfloat16 *)job.o.data + (warp_token + row) * job.o.token + head * job.o.head + chunk * 8;
			*(uint4 *)to = bits;
		}
	}
}

static const void *kernel_of(const struct job *job)
{
	return job->headdim == 64 ? (const void *)v1_forward_kernel<64> : (const void *)v1_forward_kernel<128>;
}

static int shared_bytes(const struct job *job)
{
	return job->headdim == 64 ? forward_shared<64>::bytes : forward_shared<128>::bytes;
}

static cudaError_t setup(const struct job *job)
{
	return launch_allow_all(kernel_of(job), shared_bytes(job));
}

static cudaError_t run(const struct job *job, cudaStream_t stream)
{
	return launch(kernel_of(job), job_items(job, job_forward_units(job)), THREADS, shared_bytes(job), job, stream);
}

const struct main_kernel v1_forward = { shared_bytes, setup, run };
