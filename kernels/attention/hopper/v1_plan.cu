/**
 * v1_plan.cu - what all hopper providers do behind the kernel ABI: which problems, which sizes, which workspace, which
 * phases.
 */
#include "v1_provider.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256, ALIGNMENT = 256 };
static const int64_t l2_share_bytes = 32 << 20; /* what the heads of one section may keep in an L2 cache of 40 to 60 MB */

struct fw_plan {
	const struct v1_kernels *kernels;
	struct v1_job *job; /* kernels->job_bytes, behind the plan */
	uint32_t phases;
	bool bound;
	/* Offsets into the workspace, bytes. */
	int64_t tiles_at, list_at, ranks_at, cursor_at, slots_at, stats_at, sum_at, turns_at, extra_at;
	int64_t zeroed_bytes; /* from sum_at on, by PREPARE */
	int64_t workspace_bytes;
	char config[80];
	char error[TEXT_BYTES];
};

static int say(int status, char *why, size_t why_size, const char *format, ...)
{
	if (why && why_size > 0) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(why, why_size, format, arguments);
		va_end(arguments);
	}
	return status;
}

/* The caller's struct may be older and shorter: what it leaves out reads as 0. */
static struct fw_attention attention_of(const struct fw_problem *problem)
{
	struct fw_attention a;
	memset(&a, 0, sizeof a);
	if (problem->attention)
		memcpy(&a, problem->attention,
			problem->attention->struct_size < sizeof a ? problem->attention->struct_size : sizeof a);
	return a;
}

/* `ordered`: the kernels can sum dQ in a fixed order. */
static int can(const struct fw_problem *problem, bool ordered, char *why, size_t size)
{
	if (!problem || problem->family != FW_ATTENTION || !problem->attention)
		return say(FW_UNSUPPORTED, why, size, "only attention");
	const struct fw_attention a = attention_of(problem);
	if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD)
		return say(FW_UNSUPPORTED, why, size, "only forward and backward");
	if (problem->flags & FW_DETERMINISTIC && problem->direction == FW_BACKWARD && !ordered)
		return say(FW_UNSUPPORTED, why, size, "dQ is summed in an open order, so backward is not deterministic");
	if (a.dtype != FW_BF16)
		return say(FW_UNSUPPORTED, why, size, "only bf16");
	if ((a.headdim != 64 && a.headdim != 128) || a.headdim_v != a.headdim)
		return say(FW_UNSUPPORTED, why, size, "only headdim 64 and 128, the same for V");
	if (a.nhq < 1 || a.nhk < 1 || a.nhq % a.nhk || a.nhq > 65535)
		return say(FW_UNSUPPORTED, why, size, "query heads must be a multiple of key heads, at most 65535");
	if (a.total_q < 1 || a.total_k < 1 || a.total_q > V1_TOKENS_MAX || a.total_k > V1_TOKENS_MAX)
		return say(FW_UNSUPPORTED, why, size, "1 to %d tokens", V1_TOKENS_MAX);
	if (!(a.scale > 0.0) || !isfinite(a.scale))
		return say(FW_UNSUPPORTED, why, size, "the scale must be positive");
	if (a.n_seqs < 1 || a.n_seqs > V1_SEQS_MAX)
		return say(FW_UNSUPPORTED, why, size, "1 to %d sequences", V1_SEQS_MAX);
	if (a.mask == FW_BLOCKS) {
		if (a.block_q != a.block_k || (a.block_q != 64 && a.block_q != 128))
			return say(FW_UNSUPPORTED, why, size, "only square mask blocks of 64 or 128 tokens");
		if (a.n_seqs != 1)
			return say(FW_UNSUPPORTED, why, size, "a block mask takes one sequence");
		if (a.max_blocks < 0 || a.max_blocks > 0x7fffffff)
			return say(FW_UNSUPPORTED, why, size, "at most 2^31 - 1 kept blocks");
	} else if (a.mask != FW_FULL && a.mask != FW_CAUSAL) {
		return say(FW_UNSUPPORTED, why, size, "only masks full, causal and blocks");
	}
	return FW_OK;
}

int v1_can(const struct fw_problem *problem, char *why, size_t size)
{
	return can(problem, false, why, size);
}

int v1_can_ordered(const struct fw_problem *problem, char *why, size_t size)
{
	return can(problem, true, why, size);
}

static int64_t align_up(int64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Key heads side by side: all that fit the cache when tiles differ in length and the longest must come first, else one. */
static int32_t choose_section(const struct v1_job *job)
{
	if (job->block || (!job->causal && job->n_seqs == 1))
		return 1;
	const int64_t element = job->headdim, key_bytes = element * (2 + 2), query_bytes = element * (2 + 2 + 4);
	const int64_t bytes = job->backward ? job->total_q * query_bytes : job->total_k * key_bytes;
	const int64_t fit = l2_share_bytes / (bytes > 0 ? bytes : 1);
	return (int32_t)(fit < 1 ? 1 : fit > job->nhk ? job->nhk : fit);
}

static int make_job(const struct v1_kernels *kernels, const struct fw_problem *problem, const char *config, struct v1_job *job,
	struct v1_shape *shape)
{
	const struct fw_attention a = attention_of(problem);
	memset(shape, 0, sizeof *shape);
	const int status = kernels->choose(&a, problem->direction, config, shape);
	if (status != FW_OK)
		return status;
	memset(job, 0, sizeof *job);
	job->backward = problem->direction == FW_BACKWARD;
	job->ordered = job->backward && problem->flags & FW_DETERMINISTIC && shape->passes != 2;
	job->causal = a.mask == FW_CAUSAL;
	job->block = a.mask == FW_BLOCKS ? a.block_q : 0;
	job->nhq = a.nhq;
	job->nhk = a.nhk;
	job->group = a.nhq / a.nhk;
	job->headdim = a.headdim;
	job->total_q = a.total_q;
	job->total_k = a.total_k;
	job->n_seqs = a.n_seqs;
	const int32_t rows = shape->outer_rows;
	job->outer_rows = rows;
	job->heads = shape->heads;
	job->step = shape->step;
	job->parts = shape->parts;
	job->passes = shape->passes;
	job->runs = shape->runs && !job->ordered;
	const int32_t outer = job->backward ? job->total_k : job->total_q;
	const int32_t shared = v1_list_rows(job);
	job->n_tiles = job->block ? v1_ceil_div(outer, shared) * (shared / rows) : outer / rows + job->n_seqs;
	job->n_slots = job->backward ? job->total_q / V1_STEP + job->n_seqs : 0;
	if (job->backward && job->block) /* the last block is walked whole, even if its second half lies behind the last token */
		job->n_slots = v1_ceil_div(job->total_q, job->block) * (job->block / V1_STEP);
	job->list_capacity = job->block ? a.max_blocks : 0;
	job->scale = (float)a.scale;
	job->scale_log2 = (float)(a.scale * 1.4426950408889634);
	job->section = choose_section(job);
	return FW_OK;
}

/* The plan and its job in one piece; tensor maps inside the job must lie on multiples of 64 bytes. */
static struct fw_plan *make_plan(const struct v1_kernels *kernels)
{
	const size_t line = 64, before = (sizeof(struct fw_plan) + line - 1) / line * line;
	const size_t bytes = before + (kernels->job_bytes + line - 1) / line * line;
	struct fw_plan *p = (struct fw_plan *)aligned_alloc(line, bytes);
	if (!p)
		return NULL;
	memset(p, 0, bytes);
	p->kernels = kernels;
	p->job = (struct v1_job *)((unsigned char *)p + before);
	return p;
}

int v1_plan(const struct v1_kernels *kernels, const struct fw_problem *problem, const char *config, int index,
	struct fw_plan **out, struct fw_info *info, char *why, size_t size)
{
	int status = can(problem, kernels->ordered, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return say(FW_INVALID, why, size, "plan and info must not be NULL");
	struct fw_plan *p = make_plan(kernels);
	if (!p)
		return say(FW_FAILED, why, size, "out of memory");
	struct v1_job *job = p->job;
	struct v1_shape shape;
	if (make_job(kernels, problem, config, job, &shape) != FW_OK) {
		free(p);
		return say(FW_UNSUPPORTED, why, size, "config \"%s\" is none of %s for this problem", config, kernels->name);
	}
	const int64_t units = job->backward ? 1 : v1_forward_units(job);
	if (v1_items(job, (int32_t)units) > 0x7fffffff) {
		free(p);
		return say(FW_UNSUPPORTED, why, size, "more than 2^31 - 1 tiles");
	}

	int previous = 0, shared_max = 0;
	const int shared = kernels->shared(job);
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&shared_max, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
	bool fits = e == cudaSuccess && shared + 1024 <= shared_max;
	if (fits)
		e = kernels->setup(job);
	cudaError_t restored = cudaSetDevice(previous);
	if (e == cudaSuccess)
		e = restored;
	if (e != cudaSuccess || !fits) {
		free(p);
		(void)cudaGetLastError();
		if (e == cudaErrorNoKernelImageForDevice)
			return say(FW_UNSUPPORTED, why, size, "%s has no code for device %d", kernels->name, index);
		if (e != cudaSuccess)
			return say(FW_FAILED, why, size, "device %d: %s", index, cudaGetErrorString(e));
		return say(FW_UNSUPPORTED, why, size, "device %d has %d bytes of shared memory a block, %d are needed", index,
			shared_max, shared + 1024);
	}

	int64_t at = 0;
	p->tiles_at = at;
	at = align_up(at + (int64_t)job->n_tiles * (job->block ? job->nhk : 1) * (int64_t)sizeof(struct v1_tile));
	p->list_at = at;
	at = align_up(at + job->list_capacity * (int64_t)sizeof(int32_t));
	p->ranks_at = at;
	at = align_up(at + (job->ordered ? job->list_capacity * (int64_t)sizeof(int32_t) : 0));
	p->cursor_at = at;
	at = align_up(at + 2 * (int64_t)sizeof(int32_t));
	if (job->backward) {
		const int64_t rows = (int64_t)job->nhq * job->n_slots * V1_STEP;
		p->slots_at = at;
		at = align_up(at + job->n_slots * (int64_t)sizeof(int2));
		p->stats_at = at;
		at = align_up(at + rows * (int64_t)sizeof(float2));
		p->sum_at = at;
		at = align_up(at + (job->passes == 2 ? 0 : rows * job->headdim * (int64_t)sizeof(float)));
		p->turns_at = at;
		at = align_up(at + (job->ordered ? rows / V1_STEP * (int64_t)sizeof(int32_t) : 0));
		p->zeroed_bytes = at - p->sum_at;
	}
	p->extra_at = at;
	at = align_up(at + (kernels->extra ? kernels->extra(job) : 0));
	p->workspace_bytes = at;
	p->phases = FW_RANGE_MERGE | FW_RUN;
	if (job->backward)
		p->phases |= FW_PREPROCESS | (p->zeroed_bytes ? FW_PREPARE | FW_CAST : 0) | (job->parts > 1 ? FW_CAST : 0);
	snprintf(p->config, sizeof p->config, "%s", shape.config);

	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = info->struct_size && info->struct_size < sizeof answer ? info->struct_size : (uint32_t)sizeof answer;
	answer.phases = p->phases;
	answer.workspace_bytes = (uint64_t)at;
	answer.config = p->config;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* A bf16 tensor (token, head, element) of one slot; strides of 0 mean row-major. */
static int take_tensor(struct fw_plan *p, const struct fw_io *io, int slot, const char *name, int heads, struct v1_tensor *tensor)
{
	if ((uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return say(FW_INVALID, p->error, TEXT_BYTES, "%s is missing", name);
	const struct fw_tensor *t = &io->slot[slot];
	const bool packed = t->stride[0] == 0 && t->stride[1] == 0 && t->stride[2] == 0;
	tensor->data = t->data;
	tensor->token = packed ? (int64_t)heads * p->job->headdim : t->stride[0];
	tensor->head = packed ? p->job->headdim : t->stride[1];
	if (t->dtype != FW_BF16)
		return say(FW_INVALID, p->error, TEXT_BYTES, "%s must be bf16", name);
	if ((!packed && t->stride[2] != 1) || tensor->token % 8 || tensor->head % 8 || (uintptr_t)t->data % 16)
		return say(FW_UNSUPPORTED, p->error, TEXT_BYTES, "%s: rows must be contiguous and start at multiples of 16 bytes",
			name);
	return FW_OK;
}

static const void *plain_slot(const struct fw_io *io, int slot)
{
	return (uint32_t)slot < io->n_slots ? io->slot[slot].data : NULL;
}

int v1_bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return say(FW_INVALID, p->error, TEXT_BYTES, "no slots");
	struct v1_job *job = p->job;
	int status = take_tensor(p, io, FW_Q, "Q", job->nhq, &job->q);
	if (status == FW_OK)
		status = take_tensor(p, io, FW_K, "K", job->nhk, &job->k);
	if (status == FW_OK)
		status = take_tensor(p, io, FW_V, "V", job->nhk, &job->v);
	if (status == FW_OK)
		status = take_tensor(p, io, FW_O, "O", job->nhq, &job->o);
	if (status == FW_OK && job->backward)
		status = take_tensor(p, io, FW_DO, "dO", job->nhq, &job->grad_o);
	if (status == FW_OK && job->backward)
		status = take_tensor(p, io, FW_DQ, "dQ", job->nhq, &job->grad_q);
	if (status == FW_OK && job->backward)
		status = take_tensor(p, io, FW_DK, "dK", job->nhk, &job->grad_k);
	if (status == FW_OK && job->backward)
		status = take_tensor(p, io, FW_DV, "dV", job->nhk, &job->grad_v);
	if (status != FW_OK)
		return status;

	job->lse = (float *)plain_slot(io, FW_LSE);
	if (!job->lse)
		return say(FW_INVALID, p->error, TEXT_BYTES, "LSE is missing");
	job->lse_head = io->slot[FW_LSE].stride[0] ? io->slot[FW_LSE].stride[0] : job->total_q;
	job->cu_q = (const int32_t *)plain_slot(io, FW_CU_Q);
	job->cu_k = (const int32_t *)plain_slot(io, FW_CU_K);
	if (job->n_seqs > 1 && (!job->cu_q || !job->cu_k))
		return say(FW_INVALID, p->error, TEXT_BYTES, "CU_Q or CU_K is missing for %d sequences", job->n_seqs);
	if (job->n_seqs == 1)
		job->cu_q = job->cu_k = NULL; /* one sequence is all tokens */
	job->bits = (const uint32_t *)plain_slot(io, FW_BLOCK_BITS);
	if (job->block && !job->bits)
		return say(FW_INVALID, p->error, TEXT_BYTES, "BLOCK_BITS is missing");
	if (p->workspace_bytes > 0 && (!io->workspace || (uintptr_t)io->workspace % ALIGNMENT))
		return say(FW_INVALID, p->error, TEXT_BYTES, "the workspace is missing or not %d-aligned", ALIGNMENT);

	unsigned char *workspace = (unsigned char *)io->workspace;
	job->tiles = (struct v1_tile *)(workspace + p->tiles_at);
	job->list = (int32_t *)(workspace + p->list_at);
	job->ranks = (int32_t *)(workspace + p->ranks_at);
	job->cursor = (int32_t *)(workspace + p->cursor_at);
	job->slots = (int2 *)(workspace + p->slots_at);
	job->row_stats = (float2 *)(workspace + p->stats_at);
	job->grad_q_sum = (float *)(workspace + p->sum_at);
	job->turns = (int32_t *)(workspace + p->turns_at);
	job->extra = workspace + p->extra_at;
	if (p->kernels->bound) {
		status = p->kernels->bound(job, p->error, TEXT_BYTES);
		if (status != FW_OK)
			return status;
	}
	p->bound = true;
	return FW_OK;
}

static int launched(struct fw_plan *p, const char *phase, cudaError_t e)
{
	if (e == cudaSuccess)
		return FW_OK;
	return say(FW_FAILED, p->error, TEXT_BYTES, "%s: %s", phase, cudaGetErrorString(e));
}

int v1_enqueue(struct fw_plan *p, uint32_t phases, void *stream_handle)
{
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return say(FW_INVALID, p->error, TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	const struct v1_job *job = p->job;
	int status = FW_OK;
	phases &= p->phases;
	if (status == FW_OK && phases & FW_RANGE_MERGE)
		status = launched(p, "range_merge", p->kernels->lists(job, stream));
	if (status == FW_OK && phases & FW_PREPARE)
		status = launched(p, "prepare", cudaMemsetAsync(job->grad_q_sum, 0, (size_t)p->zeroed_bytes, stream));
	if (status == FW_OK && phases & FW_PREPROCESS)
		status = launched(p, "preprocess", v1_preprocess(job, stream));
	if (status == FW_OK && phases & FW_RUN)
		status = launched(p, "run", p->kernels->run(job, stream));
	if (status == FW_OK && phases & FW_CAST)
		status = launched(p, "cast", p->kernels->cast(job, stream));
	return status;
}

/* Adds what one tile of one key head does. `partial`, `dense_steps`: masked steps, and steps without any mask, of one walk over the tile. */
static void count_tile(
	const struct v1_job *job, const struct v1_tile *tile, int64_t partial, int64_t dense_steps, struct fw_work *work)
{
	const int64_t walks = job->backward ? job->group : v1_forward_units(job);
	const int64_t parts = job->step / V1_STEP; /* what lists count is V1_STEP, what a kernel multiplies may be more */
	const double d = job->headdim, rows = tile->end - tile->first;
	const double steps = (double)walks * (double)((tile->steps + parts - 1) / parts * parts);
	work->tiles_total += walks * dense_steps;
	work->tiles_skipped += walks * (dense_steps - tile->steps);
	work->tiles_partial += walks * partial;
	if (!job->backward) { /* Q, O and LSE once, K and V every step */
		work->flops_issued += steps * 2 * 2.0 * job->outer_rows * job->heads * V1_STEP * d;
		work->bytes_moved += job->group * rows * (2 * d * 2 + 4) + steps * V1_STEP * d * 2 * 2;
	} else { /* K, V, dK, dV once; Q, dO, statistics and the addition to dQ every step */
		work->flops_issued += steps * (job->passes == 2 ? 7 : 5) * 2.0 * V1_STEP * job->outer_rows * d;
		work->bytes_moved += rows * d * 2 * 4 + steps * V1_STEP * (d * (2 + 2 + 4) + 8);
	}
}

static int64_t count_bits(const uint32_t *words, int32_t n_bits)
{
	int64_t n = 0;
	for (int32_t i = 0; i < n_bits; i++)
		n += words[i / 32] >> (i % 32) & 1;
	return n;
}

static void count_blocks(const struct v1_job *job, const uint32_t *bits, struct fw_work *work)
{
	const int32_t q_blocks = v1_ceil_div(job->total_q, job->block), k_blocks = v1_ceil_div(job->total_k, job->block);
	const int32_t words = v1_ceil_div(k_blocks, 32), shared = v1_list_rows(job), own_blocks = shared / job->block;
	const int32_t outer_total = job->backward ? job->total_k : job->total_q, parts = job->block / V1_STEP;
	const int32_t inner_steps = parts * (job->backward ? q_blocks : k_blocks);
	for (int32_t kv_head = 0; kv_head < job->nhk; kv_head++) {
		const uint32_t *head = bits + (int64_t)kv_head * q_blocks * words;
		for (int32_t q = 0; q < q_blocks; q++)
			work->blocks_kept += count_bits(head + (int64_t)q * words, k_blocks);
		for (int32_t i = 0; i < job->n_tiles; i++) {
			const int32_t outer = i / (shared / job->outer_rows);
			struct v1_tile tile;
			memset(&tile, 0, sizeof tile);
			tile.first = i * job->outer_rows;
			tile.end = tile.first + job->outer_rows < outer_total ? tile.first + job->outer_rows : outer_total;
			if (tile.first >= outer_total)
				continue;
			int64_t kept = 0, partial = 0;
			if (!job->backward) {
				kept = count_bits(head + (int64_t)outer * words, k_blocks);
				if (job->total_k % job->block &&
					head[(int64_t)outer * words + (k_blocks - 1) / 32] >> ((k_blocks - 1) % 32) & 1)
					partial = parts - job->total_k % job->block / V1_STEP;
			} else {
				const int32_t first = outer * own_blocks, all = own_blocks == 2 && first + 1 < k_blocks ? 3 : 1;
				for (int32_t q = 0; q < q_blocks; q++) {
					const int32_t seen = head[(int64_t)q * words + first / 32] >> (first % 32) & all;
					kept += seen != 0;
					partial += seen != 0 && seen != all;
				}
				partial = tile.end - tile.first < job->outer_rows ? kept * parts : partial * parts;
			}
			tile.steps = (int32_t)(kept * parts);
			count_tile(job, &tile, partial, inner_steps, work);
		}
	}
}

static void count_dense(const struct v1_job *job, const int32_t *cu_q, const int32_t *cu_k, struct fw_work *work)
{
	for (int32_t s = 0; s < job->n_seqs; s++) {
		const struct v1_sequence range = v1_sequence(job, cu_q, cu_k, s);
		const int32_t tiles = v1_sequence_tiles(job, &range);
		const int32_t inner = job->backward ? range.q_end - range.q : range.k_end - range.k;
		for (int32_t b = 0; b < tiles; b++) {
			const struct v1_tile tile = v1_dense_tile(job, &range, s, b);
			int64_t partial = 0;
			for (int32_t i = 0; i < tile.steps; i++) {
				const int32_t at = tile.inner + i * V1_STEP;
				partial += job->backward ? v1_needs_mask(at, tile.first, job->outer_rows, tile.diagonal, tile.end)
							 : v1_needs_mask(tile.first, at, V1_STEP, tile.diagonal, tile.inner_end);
			}
			for (int32_t kv_head = 0; kv_head < job->nhk; kv_head++)
				count_tile(job, &tile, partial, v1_ceil_div(inner, V1_STEP), work);
		}
	}
}

int v1_count(const struct v1_kernels *kernels, const struct fw_problem *problem, const char *config, const struct fw_io *host,
	struct fw_work *work)
{
	struct v1_job job;
	struct v1_shape shape;
	if (can(problem, kernels->ordered, NULL, 0) != FW_OK || make_job(kernels, problem, config, &job, &shape) != FW_OK)
		return FW_UNSUPPORTED;
	if (!host || !host->slot || !work)
		return FW_INVALID;
	struct fw_work answer;
	memset(&answer, 0, sizeof answer);
	const uint32_t *bits = (const uint32_t *)plain_slot(host, FW_BLOCK_BITS);
	const int32_t *cu_q = (const int32_t *)plain_slot(host, FW_CU_Q), *cu_k = (const int32_t *)plain_slot(host, FW_CU_K);
	if ((job.block && !bits) || (job.n_seqs > 1 && (!cu_q || !cu_k)))
		return FW_INVALID;
	if (job.block)
		count_blocks(&job, bits, &answer);
	else
		count_dense(&job, job.n_seqs > 1 ? cu_q : NULL, job.n_seqs > 1 ? cu_k : NULL, &answer);
	answer.struct_size = work->struct_size && work->struct_size < sizeof answer ? work->struct_size : (uint32_t)sizeof answer;
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

const char *v1_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

void v1_destroy(struct fw_plan *p)
{
	free(p);
}
