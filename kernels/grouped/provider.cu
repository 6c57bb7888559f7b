/*
 * provider.cu - provider "mma": grouped products in bf16 by mma.sync, on any device from compute capability 8.0 on.
 */
#include "grouped/plan.h"
#include "mma.h"

#include <stdlib.h>

enum { BLOCKS_A_MULTIPROCESSOR = 2, CONFIG_SIZE = 24 };

struct fw_plan {
	struct mma_job job;
	struct fw_grouped a;
	bool bound;
	char config[CONFIG_SIZE];
	char error[CONTRACT_TEXT_BYTES];
};

static const int tile_rows[] = { 16, 64, 128 };

static void describe(char *to, int rows)
{
	snprintf(to, CONFIG_SIZE, "TILE=%dx%d", rows, (int)MMA_COLUMNS);
}

/* Rows of a tile: those that `config` names, else enough for a group of average size; 0: there is no such configuration. */
static int choose(const struct fw_problem *problem, const char *config)
{
	const struct fw_grouped *a = fw_grouped_of(problem);
	const bool wgrad = problem->direction == FW_WGRAD;
	for (int rows : tile_rows) {
		char text[CONFIG_SIZE];
		describe(text, rows);
		if (wgrad && rows != 128)
			continue;
		if (config ? strcmp(config, text) == 0 : wgrad || rows == 128 || a->rows <= (int64_t)rows * a->groups)
			return rows;
	}
	return 0;
}

/* Prepare the kernel on device `index`, and count its blocks; the current device is restored. */
static cudaError_t ready(struct mma_job *job, int64_t tiles, int index)
{
	int previous = 0, multiprocessors = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, index);
	if (e == cudaSuccess)
		e = mma_setup(job);
	const cudaError_t restored = cudaSetDevice(previous);
	(void)cudaGetLastError();
	const int64_t most = (int64_t)multiprocessors * BLOCKS_A_MULTIPROCESSOR;
	job->blocks = (int32_t)(tiles < most ? tiles : most);
	return e != cudaSuccess ? e : restored;
}

/* The most tiles that the groups can have, whatever their sizes. */
static int64_t most_tiles(const struct mma_job *job, int64_t rows)
{
	const int64_t across = ((job->direction == FW_FORWARD ? job->n : job->k) + MMA_COLUMNS - 1) / MMA_COLUMNS;
	if (job->direction == FW_WGRAD)
		return (int64_t)job->groups * ((job->n + job->tile_rows - 1) / job->tile_rows) * across;
	return (rows / job->tile_rows + (rows < job->groups ? rows : job->groups)) * across;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	const int status = grouped_can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	const int rows = choose(problem, config);
	if (rows == 0)
		return contract_refuse(FW_UNSUPPORTED, why, size, "there is no %s of this problem", config);
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	p->a = *fw_grouped_of(problem);
	p->job.groups = p->a.groups;
	p->job.n = p->a.n;
	p->job.k = p->a.k;
	p->job.direction = problem->direction;
	p->job.tile_rows = rows;
	describe(p->config, rows);
	const cudaError_t e = ready(&p->job, most_tiles(&p->job, p->a.rows), index);
	if (e != cudaSuccess) {
		free(p);
		return contract_refuse(e == cudaErrorNoKernelImageForDevice ? FW_UNSUPPORTED : FW_FAILED, why, size,
			"device %d: %s", index, cudaGetErrorString(e));
	}
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.phases = FW_GROUPED_RUN;
	answer.config = p->config;
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	const struct grouped_roles roles = grouped_roles_of(p->job.direction);
	void *left = NULL, *right = NULL, *offsets = NULL, *to = NULL;
	p->bound = false;
	p->error[0] = '\0';
	int status = grouped_take(&p->a, io, roles.left, &left, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, roles.right, &right, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, FW_GROUPED_OFFSETS, &offsets, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, roles.out, &to, p->error);
	if (status != FW_OK)
		return status;
	p->job.left = (const __nv_bfloat16 *)left;
	p->job.right = (const __nv_bfloat16 *)right;
	p->job.offsets = (const int32_t *)offsets;
	p->job.out = (__nv_bfloat16 *)to;
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
	const cudaError_t e = phases & FW_GROUPED_RUN ? mma_run(&p->job, (cudaStream_t)stream) : cudaSuccess;
	return e == cudaSuccess ? FW_OK
				: contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "run: %s", cudaGetErrorString(e));
}

static int count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	const int status = grouped_can(problem, NULL, 0), rows = status == FW_OK ? choose(problem, config) : 0;
	if (status != FW_OK || rows == 0)
		return FW_UNSUPPORTED;
	return grouped_count(problem, host, rows, MMA_COLUMNS, work);
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider grouped_mma = { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_GROUPED, 0, "mma",
	grouped_can, plan, bind, enqueue, count, error, destroy };
