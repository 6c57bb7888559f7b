/**
 * v0_provider.cu - provider "hopper.v0": fp32 attention on the CUDA cores, over the work list of v1.
 */
#include "v0.h"
#include "v1_provider.h"

#include <stdio.h>
#include <string.h>

/* There is nothing to choose. */
static int choose(const struct fw_attention *, int, const char *config, struct v1_shape *shape)
{
	shape->outer_rows = V1_STEP;
	shape->heads = 1;
	shape->step = V1_STEP;
	shape->parts = shape->passes = 1;
	snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=64 STAGES=1");
	return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
}

static int shared(const struct v1_job *job)
{
	return job->backward ? v0_backward_shared(job->headdim) : v0_forward_shared(job->headdim);
}

static cudaError_t setup(const struct v1_job *job)
{
	return job->backward ? v0_backward_setup(job) : v0_forward_setup(job);
}

static cudaError_t run(const struct v1_job *job, cudaStream_t stream)
{
	return job->backward ? v0_backward(job, stream) : v0_forward(job, stream);
}

static const struct v1_kernels kernels = { "hopper.v0", sizeof(struct v1_job), choose, shared, setup, NULL, v1_lists, NULL, run,
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

extern "C" const struct fw_provider attention_hopper_v0 = {
	(uint32_t)sizeof(struct fw_provider),
	FW_CUDA,
	FW_ATTENTION,
	0,
	"hopper.v0",
	v1_can,
	plan,
	v1_bind,
	v1_enqueue,
	count,
	v1_error,
	v1_destroy,
};
