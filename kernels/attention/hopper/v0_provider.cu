/**
 * v0_provider.cu - provider "hopper.v0": fp32 attention on the CUDA cores.
 */
#include "v0.h"

#include <stdio.h>
#include <string.h>

/* The only configuration. */
static int choose(const struct fw_attention *, int, const char *config, struct shape *shape)
{
	shape->outer_rows = JOB_STEP;
	shape->heads = 1;
	shape->step = JOB_STEP;
	shape->parts = shape->passes = 1;
	snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=64 STAGES=1");
	return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
}

static const struct stage stage = { "hopper.v0", sizeof(struct job), 0, false, NULL, choose, &v0_forward, &v0_backward,
	lists_build, rows_cast, NULL, NULL };

extern "C" const struct fw_provider attention_hopper_v0 = stage_provider<&stage>("hopper.v0");
