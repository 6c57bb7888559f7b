/**
 * count.cu - work of a plan's kernels for one given mask, counted on the host over the lists as lists.cu builds them.
 */
#include "stage.h"

#include <string.h>

/*
 * Add the work of one tile of one key head. `partial`, `dense_steps`: masked steps, and steps without any mask, of one traversal
 * of the tile.
 */
static void count_tile(const struct job *job, const struct tile *tile, int64_t partial, int64_t dense_steps, struct fw_work *work)
{
	const int64_t walks = job->backward ? job->group : job_forward_units(job);
	const int64_t parts = job->step / JOB_STEP; /* lists count in units of JOB_STEP, a kernel may multiply larger steps */
	const double d = job->headdim, rows = tile->end - tile->first;
	const double steps = (double)walks * (double)((tile->steps + parts - 1) / parts * parts);
	work->tiles_total += walks * dense_steps;
	work->tiles_skipped += walks * (dense_steps - tile->steps);
	work->tiles_partial += walks * partial;
	if (!job->backward) { /* Q, O and LSE once, K and V every step */
		work->flops_issued += steps * 2 * 2.0 * job->outer_rows * job->heads * JOB_STEP * d;
		work->bytes_moved += job->group * rows * (2 * d * 2 + 4) + steps * JOB_STEP * d * 2 * 2;
	} else { /* K, V, dK, dV once; Q, dO, statistics and the addition to dQ every step */
		work->flops_issued += steps * (job->passes == 2 ? 7 : 5) * 2.0 * JOB_STEP * job->outer_rows * d;
		work->bytes_moved += rows * d * 2 * 4 + steps * JOB_STEP * (d * (2 + 2 + 4) + 8);
	}
}

static int64_t count_bits(const uint32_t *words, int32_t n_bits)
{
	int64_t n = 0;
	for (int32_t i = 0; i < n_bits; i++)
		n += words[i / 32] >> (i % 32) & 1;
	return n;
}

static void count_blocks(const struct job *job, const uint32_t *bits, struct fw_work *work)
{
	const int32_t q_blocks = ceil_div(job->total_q, job->block), k_blocks = ceil_div(job->total_k, job->block);
	const int32_t words = ceil_div(k_blocks, 32), shared = job_list_rows(job), own_blocks = shared / job->block;
	const int32_t outer_total = job->backward ? job->total_k : job->total_q, parts = job->block / JOB_STEP;
	const int32_t inner_steps = parts * (job->backward ? q_blocks : k_blocks);
	for (int32_t kv_head = 0; kv_head < job->nhk; kv_head++) {
		const uint32_t *head = bits + (int64_t)kv_head * q_blocks * words;
		for (int32_t q = 0; q < q_blocks; q++)
			work->blocks_kept += count_bits(head + (int64_t)q * words, k_blocks);
		for (int32_t i = 0; i < job->n_tiles; i++) {
			const int32_t outer = i / (shared / job->outer_rows);
			struct tile tile;
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
					partial = parts - job->total_k % job->block / JOB_STEP;
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

static void count_dense(const struct job *job, const int32_t *cu_q, const int32_t *cu_k, struct fw_work *work)
{
	for (int32_t s = 0; s < job->n_seqs; s++) {
		const struct sequence range = sequence_of(job, cu_q, cu_k, s);
		const int32_t tiles = sequence_tiles(job, &range);
		const int32_t inner = job->backward ? range.q_end - range.q : range.k_end - range.k;
		for (int32_t b = 0; b < tiles; b++) {
			const struct tile tile = tile_dense(job, &range, s, b);
			int64_t partial = 0;
			for (int32_t i = 0; i < tile.steps; i++) {
				const int32_t at = tile.inner + i * JOB_STEP;
				partial += job->backward
						   ? step_needs_mask(at, tile.first, job->outer_rows, tile.diagonal, tile.end)
						   : step_needs_mask(tile.first, at, JOB_STEP, tile.diagonal, tile.inner_end);
			}
			for (int32_t kv_head = 0; kv_head < job->nhk; kv_head++)
				count_tile(job, &tile, partial, ceil_div(inner, JOB_STEP), work);
		}
	}
}

int count_work(const struct stage *stage, const struct fw_problem *problem, const char *config, const struct fw_io *host,
	struct fw_work *work)
{
	struct job job;
	struct shape shape;
	if (job_can(stage, problem, NULL, 0) != FW_OK || job_make(stage, problem, config, &job, &shape) != FW_OK)
		return FW_UNSUPPORTED;
	if (!host || !host->slot || !work)
		return FW_INVALID;
	struct fw_work answer;
	memset(&answer, 0, sizeof answer);
	const uint32_t *bits = (const uint32_t *)job_slot(host, FW_BLOCK_BITS);
	const int32_t *cu_q = (const int32_t *)job_slot(host, FW_CU_Q), *cu_k = (const int32_t *)job_slot(host, FW_CU_K);
	if ((job.block && !bits) || (job.n_seqs > 1 && (!cu_q || !cu_k)))
		return FW_INVALID;
	if (job.block)
		count_blocks(&job, bits, &answer);
	else
		count_dense(&job, job.n_seqs > 1 ? cu_q : NULL, job.n_seqs > 1 ? cu_k : NULL, &answer);
	answer.struct_size = contract_answer_bytes(work->struct_size, sizeof answer);
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}
