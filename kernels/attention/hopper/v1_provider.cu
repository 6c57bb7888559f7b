/**
 * v1_provider.cu - provider "hopper.v1": the tensor-core kernels of v1_forward and v1_backward and their tiles.
 */
#include "v1_provider.h"

#include <stdio.h>
#include <string.h>

/* The only choice there is: keys of a backward tile. 128 halve the traffic of dQ, Q and dO; blocks of 64 need 64. */
static int choose(const struct fw_attention *a, int direction, const char *config, struct v1_shape *shape)
{
	int pinned = 0, used = 0;
	shape->step = V1_STEP;
	shape->parts = shape->passes = 1;
	if (direction == FW_FORWARD) {
		const int group = a->nhq / a->nhk;
		shape->outer_rows = group % 2 == 0 || (a->mask == FW_BLOCKS && a->block_q == 64) ? 64 : 128;
		shape->heads = V1_FORWARD_M / shape->outer_rows;
		snprintf(shape->config, sizeof shape->config, "BLOCK_M=128 BLOCK_N=64 STAGES=2");
		return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
	}
	const int rows = a->mask == FW_BLOCKS && a->block_k == 64 ? 64 : 128;
	if (config) {
		if (sscanf(config, "BLOCK_M=64 BLOCK_N=%d STAGES=2%n", &pinned, &used) != 1 || used == 0 || config[used] != '\0')
			return FW_UNSUPPORTED;
		if (pinned != 64 && !(pinned == 128 && rows == 128))
			return FW_UNSUPPORTED;
	}
	shape->outer_rows = config ? pinned : rows;
	shape->heads = 1;
	snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=%d STAGES=2", shape->outer_rows);
	return FW_OK;
}

static int shared(const struct v1_job *job)
{
	return job->backward ? v1_backward_shared(job->headdim, job->outer_rows) : v1_forward_shared(job->headdim);
}

static cudaError_t setup(const struct v1_job *job)
{
	return job->backward ? v1_backward_setup(job) : v1_forward_setup(job);
}

static cudaError_t run(const struct v1_job *job, cudaStream_t stream)
{
	return job->backward ? v1_backward(job, stream) : v1_forward(job, stream);
}

static const struct v1_kernels kernels = { "hopper.v1", sizeof(struct v1_job), choose, shared, setup, NULL, v1_lists, NULL, run,
	v1_cast, false };

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	return v1_plan(&kernels, problem, config, index, out, info, why, size);
}

static int count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	return v1_count(&kernels, problem, config, host, work);
}

extern "C" const struct fw_provider attention_hopper_v1 = {
	(uint32_t)sizeof(struct fw_provider),
	FW_CUDA,
	FW_ATTENTION,
	0,
	"hopper.v1",
	v1_can,
	plan,
	v1_bind,
	v1_enqueue,
	count,
	v1_error,
	v1_destroy,
};
