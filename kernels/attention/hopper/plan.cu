/**
 * plan.cu - implementation of the kernel ABI that all stages share: workspace, addresses, phases.
 */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fw_plan {
	const struct stage *stage;
	struct job *job; /* stage->job_bytes, behind the plan */
	uint32_t phases;
	bool bound;
	/* Offsets into the workspace. Units: bytes. */
	int64_t tiles_at, list_at, ranks_at, cursor_at, slots_at, stats_at, sum_at, turns_at, extra_at;
	int64_t zeroed_bytes; /* zeroed by PREPARE, from sum_at on */
	int64_t workspace_bytes;
	char config[80];
	char error[CONTRACT_TEXT_BYTES];
};

/* The plan and its job in one allocation; tensor maps inside the job must be aligned to 64 bytes. */
static struct fw_plan *new_plan(const struct stage *stage)
{
	const size_t line = 64, before = (sizeof(struct fw_plan) + line - 1) / line * line;
	const size_t bytes = before + (stage->job_bytes + line - 1) / line * line;
	struct fw_plan *p = (struct fw_plan *)aligned_alloc(line, bytes);
	if (!p)
		return NULL;
	memset(p, 0, bytes);
	p->stage = stage;
	p->job = (struct job *)((unsigned char *)p + before);
	return p;
}

/* Whether the current device can run the stage's kernels. */
static bool has_code(const struct stage *stage, int device, int *major, int *minor)
{
	*major = *minor = 0;
	if (cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
		cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
		return true; /* assume that it can: the next call on the device reports the error */
	return stage->capability == 0 || *major * 10 + *minor == stage->capability;
}

int plan_can(const struct stage *stage, const struct fw_problem *problem, char *why, size_t size)
{
	int device = 0, major, minor;
	const int status = job_can(stage, problem, why, size);
	if (status != FW_OK || cudaGetDevice(&device) != cudaSuccess || has_code(stage, device, &major, &minor))
		return status;
	return contract_refuse(FW_UNSUPPORTED, why, size, "needs compute capability %d.%d, device %d has %d.%d",
		stage->capability / 10, stage->capability % 10, device, major, minor);
}

/* Prepare the main kernel on device `index`. */
static int ready(const struct stage *stage, const struct job *job, int index, char *why, size_t size)
{
	const struct main_kernel *kernel = job->backward ? stage->backward : stage->forward;
	const int shared = kernel->shared(job);
	int previous = 0, shared_max = 0, major, minor;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&shared_max, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
	const bool fits = e == cudaSuccess && shared + 1024 <= shared_max;
	if (fits)
		e = has_code(stage, index, &major, &minor) ? kernel->setup(job) : cudaErrorNoKernelImageForDevice;
	const cudaError_t restored = cudaSetDevice(previous);
	if (e == cudaSuccess)
		e = restored;
	if (e == cudaSuccess && fits)
		return FW_OK;
	(void)cudaGetLastError();
	if (e == cudaErrorNoKernelImageForDevice)
		return contract_refuse(FW_UNSUPPORTED, why, size, "%s has no code for device %d", stage->name, index);
	if (e != cudaSuccess)
		return contract_refuse(FW_FAILED, why, size, "device %d: %s", index, cudaGetErrorString(e));
	return contract_refuse(FW_UNSUPPORTED, why, size, "device %d has %d bytes of shared memory a block, %d are needed", index,
		shared_max, shared + 1024);
}

/* Lay out the workspace, and set the existing phases. */
static void lay_out(struct fw_plan *p)
{
	const struct job *job = p->job;
	int64_t at = 0;
	p->tiles_at = at;
	at = contract_align(at + (int64_t)job->n_tiles * (job->block ? job->nhk : 1) * (int64_t)sizeof(struct tile));
	p->list_at = at;
	at = contract_align(at + job->list_capacity * (int64_t)sizeof(int32_t));
	p->ranks_at = at;
	at = contract_align(at + (job->ordered ? job->list_capacity * (int64_t)sizeof(int32_t) : 0));
	p->cursor_at = at;
	at = contract_align(at + 2 * (int64_t)sizeof(int32_t));
	if (job->backward) {
		const int64_t rows = (int64_t)job->nhq * job->n_slots * JOB_STEP;
		p->slots_at = at;
		at = contract_align(at + job->n_slots * (int64_t)sizeof(int2));
		p->stats_at = at;
		at = contract_align(at + rows * (int64_t)sizeof(float2));
		p->sum_at = at;
		at = contract_align(at + (job->passes == 2 ? 0 : rows * job->headdim * (int64_t)sizeof(float)));
		p->turns_at = at;
		at = contract_align(at + (job->ordered ? rows / JOB_STEP * (int64_t)sizeof(int32_t) : 0));
		p->zeroed_bytes = at - p->sum_at;
	}
	p->extra_at = at;
	at = contract_align(at + (p->stage->extra ? p->stage->extra(job) : 0));
	p->workspace_bytes = at;
	p->phases = FW_RANGE_MERGE | FW_RUN;
	if (job->backward)
		p->phases |= FW_PREPROCESS | (p->zeroed_bytes ? FW_PREPARE | FW_CAST : 0) | (job->parts > 1 ? FW_CAST : 0);
}

int plan_make(const struct stage *stage, const struct fw_problem *problem, const char *config, int index, struct fw_plan **out,
	struct fw_info *info, char *why, size_t size)
{
	int status = job_can(stage, problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	struct fw_plan *p = new_plan(stage);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	struct shape shape;
	if (job_make(stage, problem, config, p->job, &shape) != FW_OK)
		status = contract_refuse(
			FW_UNSUPPORTED, why, size, "config \"%s\" is not one of %s for this problem", config, stage->name);
	else if (job_items(p->job, p->job->backward ? 1 : job_forward_units(p->job)) > 0x7fffffff)
		status = contract_refuse(FW_UNSUPPORTED, why, size, "more than 2^31 - 1 tiles");
	else
		status = ready(stage, p->job, index, why, size);
	if (status != FW_OK) {
		free(p);
		return status;
	}
	lay_out(p);
	snprintf(p->config, sizeof p->config, "%s", shape.config);

	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	answer.phases = p->phases;
	answer.workspace_bytes = (uint64_t)p->workspace_bytes;
	answer.config = p->config;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* A bf16 tensor (token, head, element) of one slot; strides of 0 mean row-major. */
static int take_tensor(struct fw_plan *p, const struct fw_io *io, int slot, const char *name, int heads, struct tensor *tensor)
{
	if ((uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "%s is missing", name);
	const struct fw_tensor *t = &io->slot[slot];
	const bool packed = t->stride[0] == 0 && t->stride[1] == 0 && t->stride[2] == 0;
	tensor->data = t->data;
	tensor->token = packed ? (int64_t)heads * p->job->headdim : t->stride[0];
	tensor->head = packed ? p->job->headdim : t->stride[1];
	if (t->dtype != FW_BF16)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "%s must be bf16", name);
	if ((!packed && t->stride[2] != 1) || tensor->token % 8 || tensor->head % 8 || (uintptr_t)t->data % 16)
		return contract_refuse(FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES,
			"%s: rows must be contiguous and start at multiples of 16 bytes", name);
	return FW_OK;
}

int plan_bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	struct job *job = p->job;
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

	job->lse = (float *)job_slot(io, FW_LSE);
	if (!job->lse)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "LSE is missing");
	job->lse_head = io->slot[FW_LSE].stride[0] ? io->slot[FW_LSE].stride[0] : job->total_q;
	job->cu_q = (const int32_t *)job_slot(io, FW_CU_Q);
	job->cu_k = (const int32_t *)job_slot(io, FW_CU_K);
	if (job->n_seqs > 1 && (!job->cu_q || !job->cu_k))
		return contract_refuse(
			FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "CU_Q or CU_K is missing for %d sequences", job->n_seqs);
	if (job->n_seqs == 1)
		job->cu_q = job->cu_k = NULL; /* one sequence contains all tokens */
	job->bits = (const uint32_t *)job_slot(io, FW_BLOCK_BITS);
	if (job->block && !job->bits)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "BLOCK_BITS is missing");
	if (p->workspace_bytes > 0 && (!io->workspace || (uintptr_t)io->workspace % CONTRACT_ALIGNMENT))
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "the workspace is missing or not %d-aligned",
			CONTRACT_ALIGNMENT);

	unsigned char *workspace = (unsigned char *)io->workspace;
	job->tiles = (struct tile *)(workspace + p->tiles_at);
	job->list = (int32_t *)(workspace + p->list_at);
	job->ranks = (int32_t *)(workspace + p->ranks_at);
	job->cursor = (int32_t *)(workspace + p->cursor_at);
	job->slots = (int2 *)(workspace + p->slots_at);
	job->row_stats = (float2 *)(workspace + p->stats_at);
	job->grad_q_sum = (float *)(workspace + p->sum_at);
	job->turns = (int32_t *)(workspace + p->turns_at);
	job->extra = workspace + p->extra_at;
	if (p->stage->bound) {
		status = p->stage->bound(job, p->error, CONTRACT_TEXT_BYTES);
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
	return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "%s: %s", phase, cudaGetErrorString(e));
}

int plan_enqueue(struct fw_plan *p, uint32_t phases, void *stream_handle)
{
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	const struct job *job = p->job;
	int status = FW_OK;
	phases &= p->phases;
	if (status == FW_OK && phases & FW_RANGE_MERGE)
		status = launched(p, "range_merge", p->stage->lists(job, stream));
	if (status == FW_OK && phases & FW_PREPARE)
		status = launched(p, "prepare", cudaMemsetAsync(job->grad_q_sum, 0, (size_t)p->zeroed_bytes, stream));
	if (status == FW_OK && phases & FW_PREPROCESS)
		status = launched(p, "preprocess", rows_preprocess(job, stream));
	if (status == FW_OK && phases & FW_RUN)
		status = launched(p, "run", (job->backward ? p->stage->backward : p->stage->forward)->run(job, stream));
	if (status == FW_OK && phases & FW_CAST)
		status = launched(p, "cast", p->stage->cast(job, stream));
	return status;
}

const char *plan_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

void plan_destroy(struct fw_plan *p)
{
	free(p);
}
