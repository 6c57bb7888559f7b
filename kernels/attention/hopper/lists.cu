/**
 * lists.cu - phase RANGE_MERGE of all hopper providers: conversion of sequence offsets or block bits to tiles and lists.
 *
 * Full and causal: every thread builds one tile and computes its rank among all tiles by cost, so that long tiles start first;
 * ties retain their order, so the table is the same on every run. Blocks: one warp reads the bits of one outer block, 32 at a time;
 * a stage may traverse adjacent set blocks as a run, without a list.
 */
#include "job.h"

enum { THREADS = 256, CHUNK = 2048, WARPS = THREADS / 32 };

/* Tile number `tile` of all sequences. `first`: number of a sequence's first tile. */
static __device__ struct tile find_tile(const struct job &job, const int32_t *first, int32_t tile)
{
	int32_t low = 0, high = job.n_seqs; /* last sequence whose first tile is <= tile; never an empty sequence */
	while (high - low > 1) {
		int32_t middle = (low + high) / 2;
		if (first[middle] <= tile)
			low = middle;
		else
			high = middle;
	}
	struct sequence range = sequence_of(&job, job.cu_q, job.cu_k, low);
	return tile_dense(&job, &range, low, tile - first[low]);
}

/* Token range of a slot. */
static __device__ int2 find_slot(const struct job &job, int32_t slot)
{
	int32_t low = 0, high = job.n_seqs;
	while (high - low > 1) {
		int32_t middle = (low + high) / 2;
		if (sequence_first_slot(job.cu_q ? job.cu_q[middle] : 0, middle) <= slot)
			low = middle;
		else
			high = middle;
	}
	struct sequence range = sequence_of(&job, job.cu_q, job.cu_k, low);
	int32_t begin = range.q + (slot - sequence_first_slot(range.q, low)) * JOB_STEP;
	return make_int2(begin, min(begin + JOB_STEP, range.q_end));
}

/* first[s] = tiles of the sequences before s, for s in 0..n_seqs. By one warp. */
static __device__ void sum_tiles(const struct job &job, int32_t *first)
{
	int32_t lane = threadIdx.x, total = 0;
	for (int32_t s = 0; s < job.n_seqs; s += 32) {
		int32_t tiles = 0;
		if (s + lane < job.n_seqs) {
			struct sequence range = sequence_of(&job, job.cu_q, job.cu_k, s + lane);
			tiles = sequence_tiles(&job, &range);
		}
		int32_t sum = tiles;
		for (int32_t d = 1; d < 32; d *= 2) {
			int32_t other = __shfl_up_sync(0xffffffffu, sum, d);
			if (lane >= d)
				sum += other;
		}
		if (s + lane < job.n_seqs)
			first[s + lane] = total + sum - tiles;
		total += __shfl_sync(0xffffffffu, sum, 31);
	}
	if (lane == 0)
		first[job.n_seqs] = total;
}

static __global__ void __launch_bounds__(THREADS) dense_lists_kernel(const __grid_constant__ struct job job)
{
	__shared__ int32_t first[JOB_SEQS_MAX + 1], cost[CHUNK];
	const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);

	if (threadIdx.x < 32)
		sum_tiles(job, first);
	__syncthreads();
	const int32_t used = min(first[job.n_seqs], job.n_tiles);
	struct tile mine;
	int32_t rank = 0;
	mine.steps = 0;
	if (i < used)
		mine = find_tile(job, first, i);
	for (int32_t from = 0; from < used; from += CHUNK) {
		int32_t n = min(CHUNK, used - from);
		for (int32_t j = threadIdx.x; j < n; j += THREADS)
			cost[j] = find_tile(job, first, from + j).steps;
		__syncthreads();
		for (int32_t j = 0; j < n; j++)
			rank += cost[j] > mine.steps || (cost[j] == mine.steps && from + j < i);
		__syncthreads();
	}
	if (i < used) {
		job.tiles[rank] = mine;
	} else if (i < job.n_tiles) {
		mine.first = -1;
		job.tiles[i] = mine;
	}
	if (job.backward && i < job.n_slots)
		job.slots[i] = find_slot(job, i);
	if (i < 2)
		job.cursor[i] = 0;
}

/*
 * Bits of 32 inner blocks from 32 * word on, the same in all lanes. Forward reads a row of the mask, backward a column, or two
 * that share a list; then `missing` marks the one that does not see this lane's block.
 */
static __device__ uint32_t kept_blocks(
	const struct job &job, int32_t kv_head, int32_t outer, int32_t word, int32_t lane, int32_t *missing)
{
	const int32_t q_blocks = ceil_div(job.total_q, job.block), k_blocks = ceil_div(job.total_k, job.block);
	const int32_t words = ceil_div(k_blocks, 32);
	const uint32_t *head = job.bits + (int64_t)kv_head * q_blocks * words;
	bool kept = false;
	*missing = 0;
	if (!job.backward) {
		if (word * 32 + lane < k_blocks)
			kept = head[(int64_t)outer * words + word] >> lane & 1;
	} else {
		const bool pair = job.outer_rows > job.block;
		const int32_t column = pair ? 2 * outer : outer, all = pair ? 3 : 1;
		int32_t seen = 0;
		if (word * 32 + lane < q_blocks)
			seen = head[(int64_t)(word * 32 + lane) * words + column / 32] >> (column % 32) & all;
		if (pair && column + 1 >= k_blocks)
			seen &= 1;
		kept = seen != 0;
		*missing = all & ~seen;
	}
	return __ballot_sync(0xffffffffu, kept);
}

/*
 * Number of lists of smaller keys that also contain query block `q_block`: the turn of list `outer` when dQ is summed in order.
 */
static __device__ int32_t rank_in_row(const struct job &job, int32_t kv_head, int32_t q_block, int32_t outer)
{
	const bool pair = job.outer_rows > job.block;
	const int32_t k_block = pair ? 2 * outer : outer;
	const int32_t q_blocks = ceil_div(job.total_q, job.block), k_blocks = ceil_div(job.total_k, job.block);
	const int32_t words = ceil_div(k_blocks, 32);
	const uint32_t *row = job.bits + ((int64_t)kv_head * q_blocks + q_block) * words;
	int32_t rank = 0;
	for (int32_t word = 0; word <= k_block / 32; word++) {
		uint32_t seen = row[word];
		if (pair)
			seen = (seen | seen >> 1) & 0x55555555u;
		rank += __popc(word < k_block / 32 ? seen : seen & ((1u << k_block % 32) - 1));
	}
	return rank;
}

static __global__ void __launch_bounds__(THREADS) block_lists_kernel(const __grid_constant__ struct job job)
{
	const int32_t total_outer = job.backward ? job.total_k : job.total_q,
		      total_inner = job.backward ? job.total_q : job.total_k;
	const int32_t shared = job_list_rows(&job), outer_blocks = ceil_div(total_outer, shared),
		      inner_words = ceil_div(ceil_div(total_inner, job.block), 32);
	const int32_t lane = threadIdx.x % 32, i = (int32_t)(blockIdx.x * WARPS + threadIdx.x / 32);

	if (job.backward)
		for (int32_t slot = (int32_t)(blockIdx.x * THREADS + threadIdx.x); slot < job.n_slots;
			slot += (int32_t)(gridDim.x * THREADS))
			job.slots[slot] = find_slot(job, slot);
	if (i >= outer_blocks * job.nhk)
		return;
	const int32_t kv_head = i / outer_blocks, outer = i % outer_blocks;
	int32_t kept = 0, first = 0, end = 0, missing;
	bool run = job.runs;
	for (int32_t word = 0; word < inner_words; word++) {
		const uint32_t bits = kept_blocks(job, kv_head, outer, word, lane, &missing);
		if (bits) {
			first = kept ? first : word * 32 + __ffs((int)bits) - 1;
			end = word * 32 + 32 - __clz((int)bits);
			kept += __popc(bits);
			run = run && !__any_sync(0xffffffffu, bits >> lane & 1 && missing);
		}
	}
	run = run && end - first == kept;

	int32_t begin = 0;
	if (lane == 0)
		begin = atomicAdd(job.cursor, kept);
	begin = __shfl_sync(0xffffffffu, begin, 0);
	if ((int64_t)begin + kept > job.list_capacity) /* more blocks than the plan allows: do not write beyond the buffer */
		kept = begin < job.list_capacity ? (int32_t)(job.list_capacity - begin) : 0;
	int32_t written = 0;
	for (int32_t word = 0; word < inner_words && !run; word++) {
		uint32_t bits = kept_blocks(job, kv_head, outer, word, lane, &missing);
		int32_t at = written + __popc(bits & ((1u << lane) - 1));
		if ((bits >> lane & 1) && at < kept) {
			job.list[begin + at] = word * 32 + lane | missing << 28;
			if (job.ordered)
				job.ranks[begin + at] = rank_in_row(job, kv_head, word * 32 + lane, outer);
		}
		written += __popc(bits);
	}

	const int32_t parts = shared / job.outer_rows; /* tiles of one block share its list */
	if (lane < parts) {
		struct tile tile;
		tile.first = outer * shared + lane * job.outer_rows;
		tile.end = min(tile.first + job.outer_rows, total_outer);
		if (tile.first >= total_outer)
			tile.first = -1;
		tile.inner = run ? first * job.block : ~begin;
		tile.inner_end = run ? min(end * job.block, total_inner) : total_inner;
		tile.steps = kept * (job.block / JOB_STEP);
		tile.diagonal = JOB_NO_DIAGONAL;
		tile.slot = 0;
		tile.order = lane;
		job.tiles[(int64_t)kv_head * job.n_tiles + outer * parts + lane] = tile;
	}
}

cudaError_t lists_build(const struct job *job, cudaStream_t stream)
{
	if (!job->block) {
		const int32_t n = job->backward && job->n_slots > job->n_tiles ? job->n_slots : job->n_tiles;
		dense_lists_kernel<<<(unsigned)ceil_div(n, THREADS), THREADS, 0, stream>>>(*job);
		return cudaGetLastError();
	}
	cudaError_t cleared = cudaMemsetAsync(job->cursor, 0, 2 * sizeof(int32_t), stream);
	if (cleared != cudaSuccess)
		return cleared;
	const int32_t outer_blocks = ceil_div(job->backward ? job->total_k : job->total_q, job_list_rows(job));
	block_lists_kernel<<<(unsigned)ceil_div(outer_blocks * job->nhk, WARPS), THREADS, 0, stream>>>(*job);
	return cudaGetLastError();
}
