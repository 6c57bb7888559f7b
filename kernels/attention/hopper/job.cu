/**
 * job.cu - checks whether a problem is supported, and fills its job.
 */
#include "stage.h"

#include <math.h>
#include <string.h>

static const int64_t l2_share_bytes = 32 << 20; /* L2 share for the heads of one section, of a cache of 40 to 60 MB */

int job_can(const struct stage *stage, const struct fw_problem *problem, char *why, size_t size)
{
	if (!problem || !fw_attention_of(problem))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only attention");
	const struct fw_attention a = contract_attention(problem);
	if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only forward and backward");
	if (problem->flags & FW_DETERMINISTIC && problem->direction == FW_BACKWARD && !stage->ordered)
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "dQ is summed in an open order, so backward is not deterministic");
	if (a.dtype != FW_BF16)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only bf16");
	if ((a.headdim != 64 && a.headdim != 128) || a.headdim_v != a.headdim)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only headdim 64 and 128, the same for V");
	if (a.nhq < 1 || a.nhk < 1 || a.nhq % a.nhk || a.nhq > 65535)
		return contract_refuse(FW_UNSUPPORTED, why, size, "query heads must be a multiple of key heads, at most 65535");
	if (a.total_q < 1 || a.total_k < 1 || a.total_q > JOB_TOKENS_MAX || a.total_k > JOB_TOKENS_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d tokens", JOB_TOKENS_MAX);
	if (!(a.scale > 0.0) || !isfinite(a.scale))
		return contract_refuse(FW_UNSUPPORTED, why, size, "the scale must be positive");
	if (a.n_seqs < 1 || a.n_seqs > JOB_SEQS_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d sequences", JOB_SEQS_MAX);
	if (a.mask == FW_BLOCKS) {
		if (a.block_q != a.block_k || (a.block_q != 64 && a.block_q != 128))
			return contract_refuse(FW_UNSUPPORTED, why, size, "only square mask blocks of 64 or 128 tokens");
		if (a.n_seqs != 1)
			return contract_refuse(FW_UNSUPPORTED, why, size, "a block mask takes one sequence");
		if (a.max_blocks < 0 || a.max_blocks > 0x7fffffff)
			return contract_refuse(FW_UNSUPPORTED, why, size, "at most 2^31 - 1 kept blocks");
	} else if (a.mask != FW_FULL && a.mask != FW_CAUSAL) {
		return contract_refuse(FW_UNSUPPORTED, why, size, "only masks full, causal and blocks");
	}
	return stage->can ? stage->can(&a, problem->direction, why, size) : FW_OK;
}

/*
 * Key heads that run concurrently: all that fit into the cache if tiles differ in length and the longest must come first, else
 * one.
 */
static int32_t choose_section(const struct job *job)
{
	if (job->block || (!job->causal && job->n_seqs == 1))
		return 1;
	const int64_t element = job->headdim, key_bytes = element * (2 + 2), query_bytes = element * (2 + 2 + 4);
	const int64_t bytes = job->backward ? job->total_q * query_bytes : job->total_k * key_bytes;
	const int64_t fit = l2_share_bytes / (bytes > 0 ? bytes : 1);
	return (int32_t)(fit < 1 ? 1 : fit > job->nhk ? job->nhk : fit);
}

int job_make(
	const struct stage *stage, const struct fw_problem *problem, const char *config, struct job *job, struct shape *shape)
{
	const struct fw_attention a = contract_attention(problem);
	memset(shape, 0, sizeof *shape);
	const int status = stage->choose(&a, problem->direction, config, shape);
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
	const int32_t shared = job_list_rows(job);
	job->n_tiles = job->block ? ceil_div(outer, shared) * (shared / rows) : outer / rows + job->n_seqs;
	job->n_slots = job->backward ? job->total_q / JOB_STEP + job->n_seqs : 0;
	if (job->backward && job->block) /* the last block is computed whole, even if its second half is beyond the last token */
		job->n_slots = ceil_div(job->total_q, job->block) * (job->block / JOB_STEP);
	job->list_capacity = job->block ? a.max_blocks : 0;
	job->scale = (float)a.scale;
	job->scale_log2 = (float)(a.scale * 1.4426950408889634);
	job->section = choose_section(job);
	return FW_OK;
}

const void *job_slot(const struct fw_io *io, int slot)
{
	return (uint32_t)slot < io->n_slots ? io->slot[slot].data : NULL;
}
