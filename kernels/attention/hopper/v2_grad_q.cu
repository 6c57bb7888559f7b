/**
 * v2_grad_q.cu - dQ of provider "hopper.v2" as a separate pass, for masks of small blocks.
 * Changes from v1: the pass of dK and dV sums dQ in global memory, 32 KB per step; with blocks of 64 keys half as many products
 * amortise this as with blocks of 128. Here rows own their dQ and traverse their keys as in forward, so there are no additions in
 * memory and the order is fixed; S and dP are computed again, 7 products instead of 5.
 *
 *     S = Q K'    P = exp2(S c - LSE)    dP = dO V'    dS = P (dP - delta)    dQ += dS K
 *
 *     dQ[first + row][head][column] += dS[row][j] K[key + j][kv_head][column]
 *
 * Lane 4 g + t: row = 16 warp + 8 r + g, column = 8 n + 2 t + e, accumulator dq[4 n + 2 r + e].
 * dS already has the layout of an A operand. S of the next step is queued behind dQ of this one, so that the tensor cores are
 * busy during the exponentials.
 */
#include "v2_load.h"

enum { OWN_GROUP = 1 /* named barriers 1 and 2 */ };

template <int D> struct grad_q_shared : walk_tiles<D> {
	typedef walk_tiles<D> tiles;
	static const int row_tensors = 2, rows_at = 0;
	static const int q = rows_at;                                /* [COMPUTE_GROUPS] */
	static const int grad_o = q + COMPUTE_GROUPS * tiles::rows;  /* [COMPUTE_GROUPS] */
	static const int k = grad_o + COMPUTE_GROUPS * tiles::rows;  /* [STAGES] */
	static const int v = k + STAGES * tiles::tile;               /* [STAGES] */
	static const int out = v + STAGES * tiles::tile;             /* [COMPUTE_GROUPS] */
	static const int items = out + COMPUTE_GROUPS * tiles::rows; /* [2] */
	static const int barriers = items + 2 * ITEM_BYTES;          /* 8 bytes each */
	static const int bytes = barriers + 16 * 8 + 1024;           /* 1024: dynamic shared memory may start anywhere */
};

#ifdef SM90_CODE
/*
 * S of a step is in flight: queue dP behind it and convert both to dS, the A operand of dQ. `stat`: LSE and delta of this
 * thread's two rows. `left`, `right`: last columns that they see in the halves of the step.
 */
template <int D, bool MASKED>
SM90_DEVICE void finish_step(float (&s)[64], uint32_t (&ds)[32], uint64_t grad_o, const float2 (&stat)[2], float scale_log2,
	int left, int right, uint32_t base, uint32_t uses, bool speaks)
{
	typedef grad_q_shared<D> shared;
	const uint32_t barrier = base + shared::barriers, stage = uses % STAGES;
	float dp[64];
	sm90_barrier_wait(barrier + (V_FULL + stage) * 8, (uses / STAGES) & 1);
	issue_scores<D>(dp, grad_o, sm90_descriptor(base + shared::v + stage * shared::tile, shared::key_panel));
	sm90_wgmma_wait<1>();
	sm90_pin(s);
	if (MASKED) {
		const int limit[2][2] = { { left, right }, { left, right } };
		mask_scores(s, limit);
	}
#pragma unroll
	for (int i = 0; i < 64; i++)
		s[i] = sm80_exp2(fmaf(s[i], scale_log2, -stat[i / 2 % 2].x));
	sm90_wgmma_wait<0>();
	sm90_pin(dp);
	if (speaks)
		sm90_barrier_arrive(barrier + (V_EMPTY + stage) * 8);
#pragma unroll
	for (int i = 0; i < 32; i++) {
		const float delta = stat[i % 2].y;
		ds[i] = sm80_pack(s[2 * i] * (dp[2 * i] - delta), s[2 * i + 1] * (dp[2 * i + 1] - delta));
	}
}

template <int D> SM90_DEVICE void compute_items(const struct v2_job &job, uint32_t base, unsigned char *memory, int group)
{
	typedef grad_q_shared<D> shared;
	const struct job &walk = job.rows;
	const uint32_t barrier = base + shared::barriers;
	const int thread = threadIdx.x % GROUP_THREADS, warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
	const bool speaks = lane == 0;
	const uint64_t q = sm90_descriptor(base + shared::q + group * shared::rows, shared::row_panel);
	const uint64_t grad_o = sm90_descriptor(base + shared::grad_o + group * shared::rows, shared::row_panel);
	uint32_t uses = 0, row_uses = 0;

	for (uint32_t heard = 0;; heard++) {
		struct item item;
		if (!hear_item<shared>(memory, base, heard, &item))
			break;
		const struct tile &tile = item.tile;
		const int head = item.kv_head * walk.group + item.unit * walk.heads + (walk.heads == 1 ? 0 : group);
		const int first = tile.first + (walk.heads == 1 ? group * ROWS : 0), row = warp * 16 + g;
		const int steps = (tile.steps + 1) / 2;
		float dq[D / 2];
		if (steps == 0) {
#pragma unroll
			for (int i = 0; i < D / 2; i++)
				dq[i] = 0.0f;
		} else {
			/* one sequence, so that slots of 64 rows are simply blocks of rows */
			const float2 *stats = job.work.row_stats + ((int64_t)head * job.work.n_slots + first / ROWS) * ROWS + row;
			const float2 stat[2] = { stats[0], stats[8] };
			const int seen = tile.inner_end - 1 - 2 * t;
			uint32_t ds[32];
			float s[64];

			sm90_barrier_wait(barrier + ROWS_FULL * 8, row_uses & 1);
			sm90_barrier_wait(barrier + (K_FULL + uses % STAGES) * 8, (uses / STAGES) & 1);
			issue_scores<D>(
				s, q, sm90_descriptor(base + shared::k + uses % STAGES * shared::tile, shared::key_panel));
			/* only the highest step may be partial or have one block */
			const struct halves keys = halves_of(walk, tile, steps - 1);
			const bool alone = tile_is_list(tile.inner) && walk.block == 64 && tile.steps % 2;
			const int left = seen - keys.first, right = alone ? -1 : seen - keys.second;
			finish_step<D, true>(s, ds, grad_o, stat, walk.scale_log2, left, right, base, uses, speaks);
#pragma unroll 1
			for (int step = steps - 2; step >= 0; step--) {
				issue_output<D>(dq, ds,
					sm90_descriptor(base + shared::k + uses % STAGES * shared::tile, shared::key_panel),
					step < steps - 2);
				const uint32_t next = (uses + 1) % STAGES;
				sm90_barrier_wait(barrier + (K_FULL + next) * 8, ((uses + 1) / STAGES) & 1);
				issue_scores<D>(s, q, sm90_descriptor(base + shared::k + next * shared::tile, shared::key_panel));
				sm90_wgmma_wait<1>();
				sm90_pin(dq);
				sm90_pin(ds);
				if (speaks)
					sm90_barrier_arrive(barrier + (K_EMPTY + uses % STAGES) * 8);
				uses++;
				finish_step<D, false>(s, ds, grad_o, stat, walk.scale_log2, 0, 0, base, uses, speaks);
			}
			issue_output<D>(dq, ds,
				sm90_descriptor(base + shared::k + uses % STAGES * shared::tile, shared::key_panel), steps > 1);
			sm90_wgmma_wait<0>();
			sm90_pin(dq);
			sm90_pin(ds);
			if (speaks) {
				sm90_barrier_arrive(barrier + (K_EMPTY + uses % STAGES) * 8);
				sm90_barrier_arrive(barrier + ROWS_EMPTY * 8);
			}
			uses++;
			row_uses++;
		}
		const float factor[2] = { walk.scale, walk.scale };
		store_rows<D>(&job.o, job.work.grad_q, dq, factor, base + shared::out + group * shared::rows, OWN_GROUP + group,
			first, tile.end, head);
	}
	if (thread == 0)
		sm90_bulk_wait<0>(); /* shared memory must stay allocated until the last store has read it */
}
#endif

template <int D> static __global__ void __launch_bounds__(THREADS, 1) v2_grad_q_kernel(const __grid_constant__ struct v2_job job)
{
#ifdef SM90_CODE
	typedef grad_q_shared<D> shared;
	extern __shared__ unsigned char unaligned[];
	unsigned char *memory = unaligned + ((0u - sm80_shared(unaligned)) & 1023u);
	const uint32_t base = sm80_shared(memory);

	begin_barriers(base + shared::barriers);

	const int group = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS, 0);
	if (group == 0) {
		sm90_registers_give<LOADER_REGISTERS>();
		if (threadIdx.x == 0)
			load_items<shared, BESIDE>(job.rows,
				{ { &job.q, &job.grad_o }, &job.walk_k, &job.k_half, &job.walk_v, &job.v_half }, base, memory);
	} else {
		sm90_registers_take<COMPUTE_REGISTERS>();
		compute_items<D>(job, base, memory, group - 1);
	}
#endif
}

static const void *kernel_of(const struct job *work)
{
	return work->headdim == 64 ? (const void *)v2_grad_q_kernel<64> : (const void *)v2_grad_q_kernel<128>;
}

static int shared_bytes(const struct job *work)
{
	return work->headdim == 64 ? grad_q_shared<64>::bytes : grad_q_shared<128>::bytes;
}

static cudaError_t setup(const struct job *work)
{
	return launch_allow(kernel_of(work), shared_bytes(work));
}

static cudaError_t run(const struct job *work, cudaStream_t stream)
{
	const struct v2_job *job = v2_of(work);
	const int64_t items = job_items(&job->rows, job_forward_units(&job->rows));
	return v2_launch(job, kernel_of(work), items, THREADS, shared_bytes(work), stream);
}

const struct main_kernel v2_grad_q = { shared_bytes, setup, run };
