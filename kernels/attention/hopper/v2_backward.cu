/**
 * v2_backward.cu - backward of provider "hopper.v2": dQ, dK, dV with wgmma and TMA.
 * Changes from v1: blocks are persistent and warp-specialised, P stays in registers, and dQ can be summed in a fixed order. A
 * thread block is one producer warp group, of which only one thread is active, and two consumer warp groups. Blocks take tiles of
 * keys from an atomic counter until none is left. The producer loads K and V of a tile once, then Q, dO and row statistics of
 * every step (64 queries of one head; all heads of the group one after the other) into a ring of stages. dK and dV stay in
 * registers over all steps and are written once: the same bits on every run. dQ is added to an fp32 sum in global memory straight
 * from registers, in fragment order (sum_fragment), so that a warp adds 512 contiguous bytes; CAST converts it to rows.
 *
 *     dK[first + row][kv_head][column] += dS'[row][j] Q[query + j][head][column]
 *
 * Lane 4 g + t: row = 16 warp + 8 r + g (of 128 keys: + 64 group), column = 8 n + 2 t + e, accumulator grad_k[4 n + 2 r + e].
 * A step computes the scores transposed, keys along rows and queries along columns:
 *     S' = K Q'    P' = exp2(S' c - LSE)    dP' = V dO'    dS' = P' (dP' - delta)
 *     dV += P' dO      dK += dS' Q      dQ = dS K
 * An accumulator has the layout of an A operand in registers: P' and dS' are operands of dV and dK without a copy in shared
 * memory. Only dQ, which sums over keys and therefore over warps, needs dS there.
 * Tiles of 128 keys: each consumer group owns 64 of them, both work on every step, dQ of a step is split by columns. Tiles of 64
 * keys: both groups own all keys, each takes every second step; their dK and dV are summed at the end of the tile.
 * The tensor cores must never wait for the exponentials. So a product is always queued before the warps start arithmetic: dP'
 * runs during exp, dV during dS, dK while dQ is added to memory.
 */
#include "v2_backward_step.h"

enum { PRODUCER_THREADS = 128, THREADS = PRODUCER_THREADS + 2 * GROUP_THREADS, GROUP_WARPS = 4 };
/*
 * In total no more registers than the launch allocates: 384 threads of 168 registers are 504 for every 128 threads. More would
 * deadlock.
 */
enum { PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240 };
enum { ALL_CONSUMERS = 1, OWN_GROUP = 2 }; /* named barriers; OWN_GROUP + 0 and + 1 */

/* How dQ is computed: in a separate pass, added in any order, or added from smaller to larger keys. */
enum queries { ELSEWHERE, ADDED, IN_ORDER };

/* Description of a tile, from the producer. */
struct backward_item {
	int32_t kv_head; /* < 0: no more tiles */
	int32_t first, end;
	int32_t total; /* steps over all its heads */
	int32_t sums;  /* in parts: index in grad_kv */
	int32_t reserved[3];
};

/* Shared memory, bytes. Tiles are panels of 64 columns (see sm90.h). */
template <int D, int KEYS> struct backward_shared {
	static const int stages = KEYS == 128 ? 3 : 4;
	static const int keys_tile = KEYS * D * 2, keys_panel = KEYS * 128;
	static const int step_tile = JOB_STEP * D * 2;
	static const int scores_tile = 64 * 128; /* dS' of 64 keys and 64 queries */
	static const int stats_bytes = JOB_STEP * (int)sizeof(float2);
	static const int k = 0;
	static const int v = k + keys_tile;
	static const int q = v + keys_tile;                                        /* [stages] */
	static const int grad_o = q + stages * step_tile;                          /* [stages] */
	static const int ds = grad_o + stages * step_tile;                         /* 4 scores_tile: two buffers for each group */
	static const int stats = ds + 4 * scores_tile;                             /* [stages] */
	static const int step = stats + stages * stats_bytes;                      /* [stages] struct backward_step */
	static const int item = step + stages * (int)sizeof(struct backward_step); /* [2] struct backward_item */
	static const int barriers = item + 2 * (int)sizeof(struct backward_item);
	/* Barriers, 8 bytes each. */
	static const int keys_full = barriers;         /* K and V are loaded */
	static const int keys_empty = keys_full + 8;   /* K and V may be overwritten */
	static const int item_full = keys_empty + 8;   /* [2] */
	static const int item_empty = item_full + 16;  /* [2] */
	static const int q_full = item_empty + 16;     /* [stages] Q, statistics and struct backward_step are loaded */
	static const int o_full = q_full + 8 * stages; /* [stages] dO is loaded */
	static const int empty = o_full + 8 * stages;  /* [stages] the whole stage may be overwritten */
	static const int bytes = empty + 8 * stages;
};

/* Number of items of the grid: tiles of all key heads, in each of its parts. */
JOB_HD int64_t items_of(const struct job &work)
{
	return work.parts > 1 ? (int64_t)work.nhk * work.parts * work.n_tiles : job_items(&work, 1);
}

#ifdef SM90_CODE

/* Deterministic: number of additions to a step's dQ from tiles of smaller keys. */
template <int KEYS> SM90_DEVICE int turn_of_step(const struct job &job, const struct tile &tile, int step)
{
	const int adders = KEYS == 128 ? 2 : 1; /* groups that add to one row per tile */
	if (!job.block)
		return tile.order * adders;
	if (job.cursor[0] > job.list_capacity) /* the lists are truncated: a turn would never come */
		return 0;
	const int rank = job.ranks[~tile.inner + (step >> (job.block / JOB_STEP - 1))];
	return (rank * (job.block > KEYS ? job.block / KEYS : 1) + tile.order) * adders;
}

/* First query of a step, and the halves of the tile that do not see it. */
struct visit {
	int query, missing;
};

SM90_DEVICE struct visit visit_of_step(const struct job &job, int inner, int step)
{
	if (!tile_is_list(inner))
		return { inner + step * JOB_STEP, 0 };
	const int parts = job.block / JOB_STEP, entry = job.list[~inner + (step >> (parts - 1))]; /* parts: 1 or 2 */
	return { list_block(entry) * job.block + (step & (parts - 1)) * JOB_STEP, list_missing_halves(entry) };
}

/*
 * In parts: all tiles of some query heads, then those of the next, so that only Q, dO and dQ of these heads are in use at a time
 * and stay in the L2 cache.
 */
SM90_DEVICE void place_in_parts(const struct job &work, uint32_t i, struct place *place)
{
	const int part = (int)(i / (uint32_t)work.n_tiles);
	place->tile = (int)(i % (uint32_t)work.n_tiles);
	place->kv_head = part / work.parts;
	place->unit = part % work.parts;
}

/* Find the first item from `ticket` on that has a tile; false: none. */
SM90_DEVICE bool find_tile(const struct job &work, uint32_t ticket, uint32_t items, struct tile *tile, struct place *place)
{
	for (; ticket < items; ticket = gridDim.x + (uint32_t)atomicAdd(work.cursor + 1, 1)) {
		if (work.parts > 1)
			place_in_parts(work, ticket, place);
		else if (!job_place(&work, 1, ticket, place))
			continue;
		*tile = work.tiles[(work.block ? place->kv_head * work.n_tiles : 0) + place->tile];
		if (tile->first >= 0)
			return true;
	}
	return false;
}

/* The producer thread. A new barrier counts as if phase 1 had just ended, so that the first waits for "empty" succeed. */
template <int D, int KEYS, enum queries QUERIES>
SM90_DEVICE void produce(const struct v2_job &job, unsigned char *memory, uint32_t base)
{
	typedef backward_shared<D, KEYS> shared;
	const struct job &work = job.work;
	const uint32_t items = (uint32_t)items_of(work);
	struct tile tile;
	struct place place = { 0, 0, 0 };
	uint32_t at = 0, keys_phase = 0, item = 0;

	sm90_prefetch_map(&job.k);
	sm90_prefetch_map(&job.v);
	sm90_prefetch_map(&job.q);
	sm90_prefetch_map(&job.grad_o);
	for (;;) {
		const uint32_t ticket = item == 0 ? blockIdx.x : gridDim.x + (uint32_t)atomicAdd(work.cursor + 1, 1);
		const bool more = find_tile(work, ticket, items, &tile, &place);
		const int kv_head = place.kv_head, part = kv_head * work.parts + place.unit, heads = work.group / work.parts;
		const int first_head = part * heads, total = more ? tile.steps * heads : 0;
		struct backward_item *say = (struct backward_item *)(memory + shared::item) + item % 2;
		sm90_barrier_wait(base + shared::item_empty + item % 2 * 8, (item / 2 & 1) ^ 1);
		say->kv_head = more ? kv_head : -1;
		say->first = tile.first;
		say->end = tile.end;
		say->total = total;
		say->sums = part * work.n_tiles + place.tile;
		sm90_barrier_arrive(base + shared::item_full + item % 2 * 8);
		item++;
		if (!more)
			return;

		/* Queries from here on see all keys of the tile; a partial tile is masked in every step. */
		const int clean_from = tile.first + KEYS > tile.end ? 0x7fffffff : tile.first + KEYS - 1 - tile.diagonal;
		const int slot_bias = work.block ? 0 : tile.slot * JOB_STEP - tile.inner; /* slot = (query + slot_bias) / 64 */
		int head = first_head, step = 0;
		struct visit next = { 0, 0 };
		if (total > 0)
			next = visit_of_step(work, tile.inner, 0);
		for (int n = 0; n < total; n++, at++) {
			const uint32_t stage = at % shared::stages, phase = at / shared::stages & 1;
			const int own_head = head, query = next.query, missing = next.missing,
				  turn = QUERIES == IN_ORDER ? turn_of_step<KEYS>(work, tile, step) : 0;
			if (++step == tile.steps) {
				step = 0;
				head++;
			}
			next = visit_of_step(work, tile.inner, step); /* early, to hide the latency of the list */

			const int row = own_head * work.n_slots + (query + slot_bias) / JOB_STEP;
			const uint32_t q_full = base + shared::q_full + stage * 8, o_full = base + shared::o_full + stage * 8;
			struct backward_step *info = (struct backward_step *)(memory + shared::step) + stage;
			sm90_barrier_wait(base + shared::empty + stage * 8, phase ^ 1);
			info->row = row;
			info->bias = query + tile.diagonal - tile.first;
			info->last = tile.end - tile.first - 1;
			info->masked = query < clean_from || missing;
			info->missing = missing;
			info->turn = turn;
			sm90_barrier_expect(q_full, shared::step_tile + shared::stats_bytes);
			sm90_load(base + shared::q + stage * shared::step_tile, &job.q, q_full, query, 0, own_head,
				SM90_EVICT_LAST);
			sm90_load_flat(base + shared::stats + stage * shared::stats_bytes,
				work.row_stats + (int64_t)row * JOB_STEP, shared::stats_bytes, q_full);
			if (n == 0) { /* after the first Q: the previous tile may still use its keys */
				const uint32_t keys_full = base + shared::keys_full;
				sm90_barrier_wait(base + shared::keys_empty, keys_phase ^ 1);
				keys_phase ^= 1;
				sm90_barrier_expect(keys_full, 2 * shared::keys_tile);
				sm90_load(base + shared::k, &job.k, keys_full, tile.first, 0, kv_head, SM90_EVICT_FIRST);
				sm90_load(base + shared::v, &job.v, keys_full, tile.first, 0, kv_head, SM90_EVICT_FIRST);
			}
			sm90_barrier_expect(o_full, shared::step_tile);
			sm90_load(base + shared::grad_o + stage * shared::step_tile, &job.grad_o, o_full, query, 0, own_head,
				SM90_EVICT_LAST);
		}
	}
}

/* Deterministic: wait until `turn` additions to a row are done. Called by one warp group. */
SM90_DEVICE void await_turn(const int32_t *done, int turn, int tid, int barrier)
{
	if (tid == 0)
		while (sm90_load_acquire(done) < turn)
			;
	sm90_named_sync(barrier, GROUP_THREADS);
}

/* Deterministic: signal that this group's addition is done. */
SM90_DEVICE void end_turn(int32_t *done, int tid, int barrier)
{
	sm90_fence_device();
	sm90_named_sync(barrier, GROUP_THREADS);
	if (tid == 0)
		sm90_add_release(done, 1);
}

/* Warp group `group` of the consumers. */
template <int D, int KEYS, enum queries QUERIES>
SM90_DEVICE void consume(const struct v2_job &job, unsigned char *memory, uint32_t base, int group)
{
	typedef backward_shared<D, KEYS> shared;
	const bool split_keys = KEYS == 128;           /* else the groups split the steps */
	const int q_columns = split_keys ? D / 2 : 64; /* columns of dQ that a group computes at a time ... */
	const int q_parts = split_keys ? 1 : D / 64;   /* ... and the number of times per step, because of too few registers */
	const int tid = threadIdx.x % GROUP_THREADS, warp = tid / 32, lane = tid % 32;
	const int own_row = (split_keys ? group * 64 : 0) + warp * 16 + lane / 4; /* key of accumulator rows 0; + 8 */

	const uint32_t own_k = base + shared::k + (split_keys ? group * 64 * 128 : 0), own_v = own_k + (shared::v - shared::k);
	/* dQ's columns of K: a panel per group with headdim 128, half a panel with 64. */
	const uint32_t q_side_k =
		base + shared::k + (split_keys ? (D == 128 ? group * shared::keys_panel : group * q_columns * 2) : 0);
	const uint32_t ds_write = base + shared::ds + group * (split_keys ? 1 : 2) * shared::scores_tile +
				  (warp * 16 + lane % 16) * 128 + (((lane >> 4) ^ (lane & 7)) << 4);
	const uint32_t ds_read = base + shared::ds + (split_keys ? 0 : group * 2 * shared::scores_tile);
	const uint32_t ds_other = (split_keys ? 2 : 1) * shared::scores_tile; /* offset between the two buffers */
	const int q_sum_lane = (warp * (D / 8) + (split_keys ? group * (q_columns / 8) : 0)) * 128 + lane * 4;
	uint32_t start = 0, keys_phase = 0, item = 0, buffer = 0;
	int added_to = -1; /* deterministic: row whose turn this group must end */

	for (;; item++) {
		sm90_barrier_wait(base + shared::item_full + item % 2 * 8, item / 2 & 1);
		const struct backward_item *own = (const struct backward_item *)(memory + shared::item) + item % 2;
		if (own->kv_head < 0)
			return;
		const int total = own->total;
		float grad_k[D / 2], grad_v[D / 2];
#pragma unroll
		for (int i = 0; i < D / 2; i++)
			grad_k[i] = grad_v[i] = 0.0f;

		if (total > 0) {
			sm90_barrier_wait(base + shared::keys_full, keys_phase);
			keys_phase ^= 1;
		}
#pragma unroll 1
		for (int n = split_keys ? 0 : group; n < total; n += split_keys ? 1 : 2) {
			const uint32_t at = start + n, stage = at % shared::stages, phase = at / shared::stages & 1;
			const uint32_t q_tile = base + shared::q + stage * shared::step_tile,
				       o_tile = base + shared::grad_o + stage * shared::step_tile;
			float s[32], dp[32];
			uint32_t p_half[16], ds_half[16];

			sm90_barrier_wait(base + shared::q_full + stage * 8, phase);
			sm90_wgmma_fence();
			scores<D>(s, own_k, shared::keys_panel, q_tile);
			sm90_wgmma_commit();
			const struct backward_step *step = (const struct backward_step *)(memory + shared::step) + stage;
			const float4 *stats = (const float4 *)(memory + shared::stats + stage * shared::stats_bytes) + lane % 4;
			sm90_barrier_wait(base + shared::o_full + stage * 8, phase);
			sm90_wgmma_fence();
			scores<D>(dp, own_v, shared::keys_panel, o_tile);
			sm90_wgmma_commit();

			sm90_wgmma_wait<1>();
			sm90_pin(s);
			if (step->masked)
				hide(s, *step, own_row, lane);
#pragma unroll
			for (int i = 0; i < 8; i++) {
				const float4 two = stats[4 * i]; /* LSE, delta of two queries */
				s[4 * i] = sm80_exp2(fmaf(s[4 * i], job.work.scale_log2, -two.x));
				s[4 * i + 1] = sm80_exp2(fmaf(s[4 * i + 1], job.work.scale_log2, -two.z));
				s[4 * i + 2] = sm80_exp2(fmaf(s[4 * i + 2], job.work.scale_log2, -two.x));
				s[4 * i + 3] = sm80_exp2(fmaf(s[4 * i + 3], job.work.scale_log2, -two.z));
			}
			pack(p_half, s);
			sm90_pin(p_half);
			sm90_pin(grad_v);
			sm90_wgmma_fence();
			add_to_keys(grad_v, p_half, o_tile);
			sm90_wgmma_commit();

			sm90_wgmma_wait<1>();
			sm90_pin(dp);
#pragma unroll
			for (int i = 0; i < 8; i++) { /* read again: not enough registers to hold them */
				const float4 two = stats[4 * i];
				dp[4 * i] = (dp[4 * i] - two.y) * s[4 * i];
				dp[4 * i + 1] = (dp[4 * i + 1] - two.w) * s[4 * i + 1];
				dp[4 * i + 2] = (dp[4 * i + 2] - two.y) * s[4 * i + 2];
				dp[4 * i + 3] = (dp[4 * i + 3] - two.w) * s[4 * i + 3];
			}
			pack(ds_half, dp);
			if (QUERIES != ELSEWHERE) {
#pragma unroll
				for (int i = 0; i < 4; i++)
					sm90_store_matrices<0>((ds_write + buffer * ds_other) ^ (i << 5), ds_half[4 * i],
						ds_half[4 * i + 1], ds_half[4 * i + 2], ds_half[4 * i + 3]);
				sm90_fence_async();
				/* Two buffers: after this barrier dQ of the previous step is complete, the other buffer is free. */
				if (split_keys)
					sm90_named_sync(ALL_CONSUMERS, 2 * GROUP_THREADS);
				else
					sm90_named_sync(OWN_GROUP + group, GROUP_THREADS);

				float grad_q[q_columns / 2];
				float *const sum = job.work.grad_q_sum + (int64_t)step->row * (JOB_STEP * D) + q_sum_lane;
				sm90_pin(ds_half);
				sm90_pin(grad_k);
				sm90_wgmma_fence();
				queries<KEYS>(grad_q, ds_read + buffer * ds_other, q_side_k);
				sm90_wgmma_commit();
				add_to_keys(grad_k, ds_half, q_tile);
				sm90_wgmma_commit();
				sm90_wgmma_wait<1>();
				sm90_pin(grad_v);
				sm90_pin(p_half); /* dV may have read P' until here */
				sm90_pin(grad_q);
				if (QUERIES == IN_ORDER) {
					if (added_to >= 0) /* only now, so that no group waits for the addition itself */
						end_turn(job.work.turns + added_to, tid, OWN_GROUP + group);
					added_to = step->row;
					await_turn(job.work.turns + added_to, step->turn, tid, OWN_GROUP + group);
				}
				add_to_queries(sum, grad_q); /* overlaps with dK */
				if (q_parts == 2) {
					sm90_pin(grad_q);
					sm90_wgmma_fence();
					queries<KEYS>(grad_q, ds_read + buffer * ds_other, q_side_k + shared::keys_panel);
					sm90_wgmma_commit();
				}
				sm90_wgmma_wait<q_parts - 1>();
				sm90_pin(grad_k);
				sm90_pin(ds_half);
				__syncwarp(); /* all lanes have read the statistics */
				if (lane == 0)
					sm90_barrier_arrive(base + shared::empty + stage * 8);
				if (q_parts == 2) {
					sm90_wgmma_wait<0>();
					sm90_pin(grad_q);
					add_to_queries(sum + q_columns / 8 * 128, grad_q);
				}
			} else {
				sm90_pin(ds_half);
				sm90_pin(grad_k);
				sm90_wgmma_fence();
				add_to_keys(grad_k, ds_half, q_tile);
				sm90_wgmma_commit();
				sm90_wgmma_wait<0>();
				sm90_pin(grad_v);
				sm90_pin(p_half);
				sm90_pin(grad_k);
				sm90_pin(ds_half);
				__syncwarp(); /* all lanes have read the statistics */
				if (lane == 0)
					sm90_barrier_arrive(base + shared::empty + stage * 8);
			}
			buffer ^= 1;
		}
		start += total;
		if (QUERIES == IN_ORDER && added_to >= 0)
			end_turn(job.work.turns + added_to, tid, OWN_GROUP + group);
		added_to = -1;

		const int kv_head = own->kv_head, key = own->first + own_row, end = own->end;
		float4 *const sums = (float4 *)job.grad_kv + (int64_t)own->sums * (2 * KEYS * D / 4) + tid;
		if (split_keys) {
			if (total > 0 && lane == 0) /* all lanes of the warp wait for the same wgmmas */
				sm90_barrier_arrive(base + shared::keys_empty);
			if (job.work.parts > 1) {
				put(sums + group * (64 * D / 4), grad_v);
				put(sums + (KEYS + group * 64) * D / 4, grad_k);
			} else {
				write_keys(job.work.grad_k, kv_head, key, end, lane, grad_k, job.work.scale);
				write_keys(job.work.grad_v, kv_head, key, end, lane, grad_v, 1.0f);
			}
		} else {
			/* K and V are no longer used; they are as large as one fp32 gradient. */
			float4 *scratch = (float4 *)(memory + shared::k) + tid;
			if (total > 0) {
				sm90_named_sync(ALL_CONSUMERS, 2 * GROUP_THREADS);
				if (group == 1)
					put(scratch, grad_v);
				sm90_named_sync(ALL_CONSUMERS, 2 * GROUP_THREADS);
				if (group == 0)
					take(grad_v, scratch);
				sm90_named_sync(ALL_CONSUMERS, 2 * GROUP_THREADS);
				if (group == 0)
					put(scratch, grad_k);
				sm90_named_sync(ALL_CONSUMERS, 2 * GROUP_THREADS);
				if (group == 1)
					take(grad_k, scratch);
				sm90_fence_async();
				__syncwarp();
				if (lane == 0)
					sm90_barrier_arrive(base + shared::keys_empty);
			}
			if (job.work.parts > 1 && group == 0)
				put(sums, grad_v);
			else if (job.work.parts > 1)
				put(sums + KEYS * D / 4, grad_k);
			else if (group == 0)
				write_keys(job.work.grad_v, kv_head, key, end, lane, grad_v, 1.0f);
			else
				write_keys(job.work.grad_k, kv_head, key, end, lane, grad_k, job.work.scale);
		}
		__syncwarp();
		if (lane == 0)
			sm90_barrier_arrive(base + shared::item_empty + item % 2 * 8);
	}
}

#endif

template <int D, int KEYS, enum queries QUERIES>
__global__ void __launch_bounds__(THREADS, 1) v2_backward_kernel(const __grid_constant__ struct v2_job job)
{
#ifdef SM90_CODE
	typedef backward_shared<D, KEYS> shared;
	extern __shared__ __align__(1024) unsigned char memory[];
	const uint32_t base = sm80_shared(memory);
	const int group =
		__shfl_sync(0xffffffffu, (int)threadIdx.x / GROUP_THREADS, 0); /* makes the value warp-uniform for the compiler */

	if (threadIdx.x == 0) {
		const int users = KEYS == 128 ? 2 * GROUP_WARPS : GROUP_WARPS; /* warps that read a stage */
		sm90_barrier_init(base + shared::keys_full, 1);
		sm90_barrier_init(base + shared::keys_empty, 2 * GROUP_WARPS);
		for (int i = 0; i < 2; i++) {
			sm90_barrier_init(base + shared::item_full + i * 8, 1);
			sm90_barrier_init(base + shared::item_empty + i * 8, 2 * GROUP_WARPS);
		}
		for (int i = 0; i < shared::stages; i++) {
			sm90_barrier_init(base + shared::q_full + i * 8, 1);
			sm90_barrier_init(base + shared::o_full + i * 8, 1);
			sm90_barrier_init(base + shared::empty + i * 8, users);
		}
		sm90_barrier_init_done();
	}
	__syncthreads();
	if (group == 0) {
		sm90_registers_give<PRODUCER_REGISTERS>();
		if (threadIdx.x == 0)
			produce<D, KEYS, QUERIES>(job, memory, base);
	} else {
		sm90_registers_take<CONSUMER_REGISTERS>();
		consume<D, KEYS, QUERIES>(job, memory, base, group - 1);
	}
#endif
}

template <int D, int KEYS> static const void *kernel_of_shape(const struct job *work)
{
	if (work->passes == 2)
		return (const void *)v2_backward_kernel<D, KEYS, ELSEWHERE>;
	return work->ordered ? (const void *)v2_backward_kernel<D, KEYS, IN_ORDER>
			     : (const void *)v2_backward_kernel<D, KEYS, ADDED>;
}

static const void *kernel_of(const struct job *work)
{
	if (work->headdim == 64)
		return work->outer_rows == 64 ? kernel_of_shape<64, 64>(work) : kernel_of_shape<64, 128>(work);
	return work->outer_rows == 64 ? kernel_of_shape<128, 64>(work) : kernel_of_shape<128, 128>(work);
}

static int shared_bytes(const struct job *work)
{
	if (work->headdim == 64)
		return work->outer_rows == 64 ? backward_shared<64, 64>::bytes : backward_shared<64, 128>::bytes;
	return work->outer_rows == 64 ? backward_shared<128, 64>::bytes : backward_shared<128, 128>::bytes;
}

static cudaError_t setup(const struct job *work)
{
	const cudaError_t e = launch_allow(kernel_of(work), shared_bytes(work));
	return e == cudaSuccess && work->passes == 2 ? v2_grad_q.setup(work) : e;
}

static cudaError_t run(const struct job *work, cudaStream_t stream)
{
	const cudaError_t e = v2_launch(v2_of(work), kernel_of(work), items_of(*work), THREADS, shared_bytes(work), stream);
	return e == cudaSuccess && work->passes == 2 ? v2_grad_q.run(work, stream) : e;
}

const struct main_kernel v2_backward = { shared_bytes, setup, run };
