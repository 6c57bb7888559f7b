/*
 * provider.cu - provider "decode": forward of up to 16 queries of a sequence on more keys, with a window and pages, for compute
 * capability 8.0 and later. RUN computes each share of the keys, CAST combines the shares.
 */
#include "attention/contract.h"
#include "attention/providers.h"
#include "decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUERIES_MAX = 16, SPLITS_MAX = 64, SPLIT_KEYS = 256, BLOCKS_A_MULTIPROCESSOR = 4, TOKENS_MAX = 1 << 28, GRID_MAX = 65535 };

struct fw_plan {
	struct decode_job job;
	bool bound;
	int64_t part_at, workspace_bytes;
	char config[32];
	char error[CONTRACT_TEXT_BYTES];
};

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	if (!problem || !fw_attention_of(problem))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only attention");
	const struct fw_attention a = contract_attention(problem);
	if (problem->direction != FW_FORWARD)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only forward");
	if (a.mask != FW_CAUSAL && a.mask != FW_CACHE)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only causal, with a window or pages");
	if (a.dtype != FW_BF16 && a.dtype != FW_F16)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only bf16 and f16");
	if ((a.headdim != 64 && a.headdim != 128 && a.headdim != 256) || a.headdim_v != a.headdim)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only headdim 64, 128 and 256, the same for V");
	if (a.nhq < 1 || a.nhk < 1 || a.nhq % a.nhk)
		return contract_refuse(FW_UNSUPPORTED, why, size, "query heads must be a multiple of key heads");
	if (a.max_q < 1 || a.max_q > QUERIES_MAX || a.total_q >= a.total_k)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d queries of a sequence, fewer than keys", QUERIES_MAX);
	if (a.total_q < 1 || a.total_k > TOKENS_MAX || a.max_k < 1 || (int64_t)a.total_q * a.nhq > 0x7fffffff)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d keys", TOKENS_MAX);
	if (a.n_seqs < 1 || a.n_seqs > GRID_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d sequences", GRID_MAX);
	const int64_t chunks = ((int64_t)a.max_q * (a.nhq / a.nhk) + DECODE_ROWS - 1) / DECODE_ROWS;
	if (a.nhk * chunks > GRID_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size, "too many heads");
	if (!(a.scale > 0.0) || !isfinite(a.scale))
		return contract_refuse(FW_UNSUPPORTED, why, size, "the scale must be positive");
	if (a.mask == FW_CACHE && (a.window < 0 || a.page < 0 || (a.page > 0 && a.n_pages < 1)))
		return contract_refuse(FW_UNSUPPORTED, why, size, "a window or a page of less than a token");
	int device = 0, major = 0;
	if (cudaGetDevice(&device) == cudaSuccess &&
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major < 8)
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "needs compute capability 8.0, device %d has %d.x", device, major);
	(void)cudaGetLastError();
	return FW_OK;
}

/* Shares of the keys with which every multiprocessor has several thread blocks, of at least SPLIT_KEYS keys each. */
static int choose_splits(const struct fw_attention *a, const struct decode_job *job, int index)
{
	int multiprocessors = 0;
	if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, index) != cudaSuccess) {
		(void)cudaGetLastError();
		multiprocessors = 128;
	}
	const int seen =
		a->mask == FW_CACHE && a->window > 0 && a->window + a->max_q < a->max_k ? a->window + a->max_q : a->max_k;
	const int64_t blocks = (int64_t)job->n_seqs * job->nhk * job->chunks,
		      wanted = (int64_t)multiprocessors * BLOCKS_A_MULTIPROCESSOR;
	const int64_t fill = (wanted + blocks - 1) / blocks, most = (seen + SPLIT_KEYS - 1) / SPLIT_KEYS;
	const int64_t splits = fill < most ? fill : most;
	return (int)(splits < 1 ? 1 : splits > SPLITS_MAX ? SPLITS_MAX : splits);
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	const int status = can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	const struct fw_attention a = contract_attention(problem);
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	struct decode_job *job = &p->job;
	job->nhq = a.nhq;
	job->nhk = a.nhk;
	job->group = a.nhq / a.nhk;
	job->headdim = a.headdim;
	job->is_f16 = a.dtype == FW_F16;
	job->total_q = a.total_q;
	job->total_k = a.total_k;
	job->n_seqs = a.n_seqs;
	job->max_q = a.max_q;
	job->max_k = a.max_k;
	job->window = a.mask == FW_CACHE ? a.window : 0;
	job->page = a.mask == FW_CACHE ? a.page : 0;
	job->entries = job->page ? (a.max_k + job->page - 1) / job->page : 0;
	job->chunks = (a.max_q * job->group + DECODE_ROWS - 1) / DECODE_ROWS;
	job->scale_log2 = (float)(a.scale * 1.4426950408889634);
	job->splits = choose_splits(&a, job, index);
	int used = 0;
	if (config && (sscanf(config, "SPLITS=%d%n", &job->splits, &used) != 1 || config[used] || job->splits < 1 ||
			      job->splits > SPLITS_MAX)) {
		free(p);
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "config \"%s\" is not SPLITS=1 to SPLITS=%d", config, SPLITS_MAX);
	}
	snprintf(p->config, sizeof p->config, "SPLITS=%d", job->splits);
	const int64_t rows = (int64_t)job->splits * job->total_q * job->nhq;
	p->part_at = contract_align(rows * job->headdim * (int64_t)sizeof(float));
	p->workspace_bytes = contract_align(p->part_at + rows * (int64_t)sizeof(float2));

	struct fw_info answer = {};
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	answer.phases = FW_RUN | FW_CAST;
	answer.workspace_bytes = (uint64_t)p->workspace_bytes;
	answer.config = p->config;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Take a tensor's address and strides; strides of 0 mean row-major. */
static int take(struct fw_plan *p, const struct fw_io *io, int slot, const char *name, int heads, struct decode_tensor *out)
{
	if ((uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "%s is missing", name);
	const struct fw_tensor *t = &io->slot[slot];
	const bool packed = t->stride[0] == 0 && t->stride[1] == 0 && t->stride[2] == 0;
	out->data = t->data;
	out->token = packed ? (int64_t)heads * p->job.headdim : t->stride[0];
	out->head = packed ? p->job.headdim : t->stride[1];
	if ((!packed && t->stride[2] != 1) || out->token % 8 || out->head % 8 || (uintptr_t)t->data % 16)
		return contract_refuse(FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES,
			"%s: rows must be contiguous and start at multiples of 16 bytes", name);
	return FW_OK;
}

static const void *data_of(const struct fw_io *io, int slot)
{
	return (uint32_t)slot < io->n_slots ? io->slot[slot].data : NULL;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	struct decode_job *job = &p->job;
	int status = take(p, io, FW_Q, "Q", job->nhq, &job->q);
	if (status == FW_OK)
		status = take(p, io, FW_K, "K", job->nhk, &job->k);
	if (status == FW_OK)
		status = take(p, io, FW_V, "V", job->nhk, &job->v);
	if (status == FW_OK)
		status = take(p, io, FW_O, "O", job->nhq, &job->o);
	if (status != FW_OK)
		return status;
	job->lse = (float *)(uintptr_t)data_of(io, FW_LSE);
	if (!job->lse)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "LSE is missing");
	job->lse_head = io->slot[FW_LSE].stride[0] ? io->slot[FW_LSE].stride[0] : job->total_q;
	job->cu_q = job->n_seqs > 1 ? (const int32_t *)data_of(io, FW_CU_Q) : NULL;
	job->cu_k = job->n_seqs > 1 ? (const int32_t *)data_of(io, FW_CU_K) : NULL;
	if (job->n_seqs > 1 && (!job->cu_q || !job->cu_k))
		return contract_refuse(
			FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "CU_Q or CU_K is missing for %d sequences", job->n_seqs);
	job->pages = job->page ? (const int32_t *)data_of(io, FW_PAGES) : NULL;
	if (job->page && !job->pages)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "PAGES is missing");
	if (!io->workspace || (uintptr_t)io->workspace % CONTRACT_ALIGNMENT)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "the workspace is missing or not %d-aligned",
			CONTRACT_ALIGNMENT);
	job->sum = (float *)io->workspace;
	job->part = (float2 *)((unsigned char *)io->workspace + p->part_at);
	p->bound = true;
	return FW_OK;
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	cudaError_t e = cudaSuccess;
	if (phases & FW_RUN)
		e = decode_split(&p->job, (cudaStream_t)stream);
	if (e == cudaSuccess && phases & FW_CAST)
		e = decode_combine(&p->job, (cudaStream_t)stream);
	return e == cudaSuccess ? FW_OK : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "%s", cudaGetErrorString(e));
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider attention_decode = { sizeof(struct fw_provider), FW_CUDA, FW_ATTENTION, 0, "decode", can,
	plan, bind, enqueue, NULL, error, destroy };
