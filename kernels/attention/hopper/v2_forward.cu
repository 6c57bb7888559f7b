/**
 * v2_forward.cu - forward of provider "hopper.v2": online softmax over 128-key steps with wgmma, loads by TMA.
 * Changes from v1: blocks are persistent and warp-specialised. One block per multiprocessor runs for the whole launch; its first
 * warp group only loads (v2_load.h), the other two compute 64 rows each: the same 64 queries of two heads that share a key head
 * (odd groups: 128 queries of one head), so that both traverse the same keys under every mask.
 *
 *     O[first + row][head][column] += P[row][j] V[key + j][kv_head][column]
 *
 * Lane 4 g + t: row = 16 warp + 8 r + g, column = 8 n + 2 t + e, accumulator o[4 n + 2 r + e].
 * Work overlaps within a compute group: S of the next step is multiplied while P V of this step still runs, and softmax starts as
 * soon as S is complete. The two groups alternate in issuing products (named barriers), so that the softmax of one overlaps with
 * the products of the other.
 */
#include "v2_load.h"

/* Named barriers. */
enum { TURN = 1, GROUP = TURN + COMPUTE_GROUPS };

/*
 * Rows are not rescaled until a score exceeds the reference maximum by 2^8: exact after the final division, and bf16 retains its
 * precision.
 */
#define RESCALE_ABOVE 8.0f

template <int D> struct forward_shared : walk_tiles<D> {
	typedef walk_tiles<D> tiles;
	static const int row_tensors = 1, rows_at = 0;
	static const int q = rows_at;                          /* [COMPUTE_GROUPS] */
	static const int o = q + COMPUTE_GROUPS * tiles::rows; /* [COMPUTE_GROUPS] */
	static const int k = o + COMPUTE_GROUPS * tiles::rows; /* [STAGES] */
	static const int v = k + STAGES * tiles::tile;         /* [STAGES] */
	static const int items = v + STAGES * tiles::tile;     /* [2] */
	static const int barriers = items + 2 * ITEM_BYTES;    /* 8 bytes each */
	static const int bytes = barriers + 16 * 8 + 1024;     /* 1024: dynamic shared memory may start anywhere */
};

#ifdef SM90_CODE
/* Running softmax of this thread's two rows. Units: `reference` raw scores, `sum` over this thread's columns. */
struct softmax {
	float reference[2], sum[2];
};

/* Replace s by exp2 of the scores; returns whether the output must be multiplied by `shrink` (the same result in a warp). */
SM90_DEVICE bool exponentials(float (&s)[64], struct softmax &state, float (&shrink)[2], float scale_log2)
{
	float top[2];
#pragma unroll
	for (int r = 0; r < 2; r++) {
		float a = fmaxf(s[2 * r], s[2 * r + 1]), b = fmaxf(s[4 + 2 * r], s[5 + 2 * r]);
#pragma unroll
		for (int n = 2; n < 16; n += 2) {
			a = fmaxf(a, fmaxf(s[4 * n + 2 * r], s[4 * n + 2 * r + 1]));
			b = fmaxf(b, fmaxf(s[4 * n + 4 + 2 * r], s[4 * n + 5 + 2 * r]));
		}
		top[r] = fmaxf(a, b);
		top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], 1));
		top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], 2));
	}
	/* -inf minus -inf is NaN, and a comparison with NaN is false: a row that has seen no key is not rescaled. */
	bool grown = (top[0] - state.reference[0]) * scale_log2 > RESCALE_ABOVE ||
		     (top[1] - state.reference[1]) * scale_log2 > RESCALE_ABOVE;
	grown = __any_sync(0xffffffffu, grown);
	if (grown) {
#pragma unroll
		for (int r = 0; r < 2; r++) {
			const float next = fmaxf(state.reference[r], top[r]);
			shrink[r] = next == -CUDART_INF_F ? 1.0f : sm80_exp2((state.reference[r] - next) * scale_log2);
			state.reference[r] = next;
			state.sum[r] *= shrink[r];
		}
	}
#pragma unroll
	for (int r = 0; r < 2; r++) {
		const float shift = state.reference[r] == -CUDART_INF_F ? 0.0f : state.reference[r] * scale_log2;
		float a = 0.0f, b = 0.0f;
#pragma unroll
		for (int n = 0; n < 16; n++) {
			const float left = sm80_exp2(fmaf(s[4 * n + 2 * r], scale_log2, -shift));
			const float right = sm80_exp2(fmaf(s[4 * n + 2 * r + 1], scale_log2, -shift));
			s[4 * n + 2 * r] = left;
			s[4 * n + 2 * r + 1] = right;
			a += left;
			b += right;
		}
		state.sum[r] += a + b;
	}
	return grown;
}

/* The accumulator of 16 adjacent columns is the A operand of one product with 16 keys. */
SM90_DEVICE void pack_scores(uint32_t (&p)[32], const float (&s)[64])
{
#pragma unroll
	for (int i = 0; i < 32; i++)
		p[i] = sm80_pack(s[2 * i], s[2 * i + 1]);
}

/* Position of a compute group in the rings of K and of V. */
struct progress {
	uint32_t k, v;
};

/* Every step except the first: products of S for this step and of P V for the previous one, then softmax. */
template <int D, bool MASKED>
SM90_DEVICE void next_step(const struct job &job, const struct tile &tile, uint32_t base, int group, uint64_t q, int step,
	int add, int last_key0, int last_key1, float (&s)[64], uint32_t (&p)[32], float (&o)[D / 2], struct softmax &state,
	struct progress &at)
{
	typedef forward_shared<D> shared;
	const uint32_t barrier = base + shared::barriers;
	const bool speaks = threadIdx.x % 32 == 0;
	const uint32_t k_stage = at.k % STAGES, v_stage = at.v % STAGES;

	sm90_barrier_wait(barrier + (K_FULL + k_stage) * 8, (at.k / STAGES) & 1);
	sm90_named_sync(TURN + group, COMPUTE_GROUPS * GROUP_THREADS);
	issue_scores<D>(s, q, sm90_descriptor(base + shared::k + k_stage * shared::tile, shared::key_panel));
	sm90_barrier_wait(barrier + (V_FULL + v_stage) * 8, (at.v / STAGES) & 1);
	issue_output<D>(o, p, sm90_descriptor(base + shared::v + v_stage * shared::tile, shared::key_panel), add);
	sm90_named_arrive(TURN + (group ^ 1), COMPUTE_GROUPS * GROUP_THREADS);

	sm90_wgmma_wait<1>();
	sm90_pin(s);
	if (speaks)
		sm90_barrier_arrive(barrier + (K_EMPTY + k_stage) * 8);
	if (MASKED) {
		const struct halves keys = halves_of(job, tile, step);
		const int limit[2][2] = { { last_key0 - keys.first, last_key0 - keys.second },
			{ last_key1 - keys.first, last_key1 - keys.second } };
		mask_scores(s, limit);
	}
	float shrink[2];
	const bool grown = exponentials(s, state, shrink, job.scale_log2);

	sm90_wgmma_wait<0>();
	sm90_pin(o);
	sm90_pin(p);
	if (speaks)
		sm90_barrier_arrive(barrier + (V_EMPTY + v_stage) * 8);
	if (grown) {
#pragma unroll
		for (int i = 0; i < D / 2; i++)
			o[i] *= shrink[i / 2 % 2];
	}
	pack_scores(p, s);
	at.k++;
	at.v++;
}

template <int D> SM90_DEVICE void compute_items(const struct v2_job &job, uint32_t base, unsigned char *memory, int group)
{
	typedef forward_shared<D> shared;
	const struct job &work = job.work;
	const uint32_t barrier = base + shared::barriers;
	const int thread = threadIdx.x % GROUP_THREADS, warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
	const bool speaks = lane == 0;
	const uint64_t q = sm90_descriptor(base + shared::q + group * shared::rows, shared::row_panel);
	struct progress at = { 0, 0 };
	uint32_t heard = 0, q_uses = 0;

	if (group == 1) /* the first turn is free */
		sm90_named_arrive(TURN, COMPUTE_GROUPS * GROUP_THREADS);
	for (;; heard++) {
		struct item item;
		if (!hear_item<shared>(memory, base, heard, &item))
			break;
		const struct tile &tile = item.tile;
		const int head = item.kv_head * work.group + item.unit * work.heads + (work.heads == 1 ? 0 : group);
		const int first = tile.first + (work.heads == 1 ? group * ROWS : 0), row = warp * 16 + g;
		float o[D / 2];
		struct softmax state = { { -CUDART_INF_F, -CUDART_INF_F }, { 0.0f, 0.0f } };
		int step = (tile.steps + 1) / 2 - 1;
		if (step < 0) {
#pragma unroll
			for (int i = 0; i < D / 2; i++)
				o[i] = 0.0f;
		} else {
			/* Every row of the tile sees all keys of the steps below `clean`. */
			int clean = step; /* a list: only the highest step may be partial or have one block */
			if (!tile_is_list(tile.inner))
				clean = max(0, min(tile.inner_end, tile.first + tile.diagonal + 1) - tile.inner) / KEYS;
			/*
			 * Last key that this thread's rows see, minus this thread's first column; a missing half is masked by its
			 * number.
			 */
			const int seen0 = min(tile.inner_end - 1, first + row + tile.diagonal) - 2 * t;
			const int seen1 = min(tile.inner_end - 1, first + row + 8 + tile.diagonal) - 2 * t;
			float s[64];
			uint32_t p[32];
			float shrink[2];

			sm90_barrier_wait(barrier + ROWS_FULL * 8, q_uses & 1);
			sm90_barrier_wait(barrier + (K_FULL + at.k % STAGES) * 8, (at.k / STAGES) & 1);
			issue_scores<D>(
				s, q, sm90_descriptor(base + shared::k + at.k % STAGES * shared::tile, shared::key_panel));
			sm90_wgmma_wait<0>();
			sm90_pin(s);
			if (speaks)
				sm90_barrier_arrive(barrier + (K_EMPTY + at.k % STAGES) * 8);
			at.k++;
			if (step >= clean) {
				const struct halves keys = halves_of(work, tile, step);
				const bool alone = tile_is_list(tile.inner) && work.block == 64 && tile.steps % 2;
				const int limit[2][2] = { { seen0 - keys.first, alone ? -1 : seen0 - keys.second },
					{ seen1 - keys.first, alone ? -1 : seen1 - keys.second } };
				mask_scores(s, limit);
			}
			exponentials(s, state, shrink, work.scale_log2);
			pack_scores(p, s);
			int add = 0;
			for (step--; step >= clean; step--, add = 1)
				next_step<D, true>(work, tile, base, group, q, step, add, seen0, seen1, s, p, o, state, at);
			for (; step >= 0; step--, add = 1)
				next_step<D, false>(work, tile, base, group, q, step, add, seen0, seen1, s, p, o, state, at);
			if (speaks)
				sm90_barrier_arrive(barrier + ROWS_EMPTY * 8);
			q_uses++;
			sm90_barrier_wait(barrier + (V_FULL + at.v % STAGES) * 8, (at.v / STAGES) & 1);
			issue_output<D>(
				o, p, sm90_descriptor(base + shared::v + at.v % STAGES * shared::tile, shared::key_panel), add);
			sm90_wgmma_wait<0>();
			sm90_pin(o);
			sm90_pin(p);
			if (speaks)
				sm90_barrier_arrive(barrier + (V_EMPTY + at.v % STAGES) * 8);
			at.v++;
		}

		float inverse[2];
#pragma unroll
		for (int r = 0; r < 2; r++) {
			float sum = state.sum[r];
			sum += __shfl_xor_sync(0xffffffffu, sum, 1);
			sum += __shfl_xor_sync(0xffffffffu, sum, 2);
			inverse[r] = sum > 0.0f ? 1.0f / sum : 0.0f;
			const int token = first + row + r * 8;
			if (t == 0 && token < tile.end)
				work.lse[head * work.lse_head + token] =
					sum > 0.0f ? state.reference[r] * work.scale + logf(sum) : -CUDART_INF_F;
		}
		store_rows<D>(&job.o, work.o, o, inverse, base + shared::o + group * shared::rows, GROUP + group, first, tile.end,
			head);
	}
	if (thread == 0)
		sm90_bulk_wait<0>(); /* shared memory must stay allocated until the last store has read it */
}
#endif

template <int D> static __global__ void __launch_bounds__(THREADS, 1) v2_forward_kernel(const __grid_constant__ struct v2_job job)
{
#ifdef SM90_CODE
	typedef forward_shared<D> shared;
	extern __shared__ unsigned char unaligned[];
	unsigned char *memory = unaligned + (0u - sm80_shared(unaligned) & 1023u);
	const uint32_t base = sm80_shared(memory);

	begin_barriers(base + shared::barriers);

	const int group = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS, 0);
	if (group == 0) {
		sm90_registers_give<LOADER_REGISTERS>();
		if (threadIdx.x == 0)
			load_items<shared, BEHIND>(
				job.work, { { &job.q }, &job.k, &job.k_half, &job.v, &job.v_half }, base, memory);
	} else {
		sm90_registers_take<COMPUTE_REGISTERS>();
		compute_items<D>(job, base, memory, group - 1);
	}
#endif
}

static const void *kernel_of(const struct job *work)
{
	return work->headdim == 64 ? (const void *)v2_forward_kernel<64> : (const void *)v2_forward_kernel<128>;
}

static int shared_bytes(const struct job *work)
{
	return work->headdim == 64 ? forward_shared<64>::bytes : forward_shared<128>::bytes;
}

static cudaError_t setup(const struct job *work)
{
	return launch_allow(kernel_of(work), shared_bytes(work));
}

static cudaError_t run(const struct job *work, cudaStream_t stream)
{
	const struct v2_job *job = v2_of(work);
	const int64_t items = job_items(work, job_forward_units(work));
	return v2_launch(job, kernel_of(work), items, THREADS, shared_bytes(work), stream);
}

const struct main_kernel v2_forward = { shared_bytes, setup, run };
