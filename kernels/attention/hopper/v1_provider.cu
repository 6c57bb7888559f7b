/**
 * v1_provider.cu - provider "hopper.v1": the tensor-core kernels of v1_forward and v1_backward and their tiles.
 */
#include "v1.h"

#include <stdio.h>
#include <string.h>

/* Keys of a backward tile are the only choice. 128 halve the traffic of dQ, Q and dO; mask blocks of 64 need 64. */
static int choose(const struct fw_attention *a, int direction, const char *config, struct shape *shape)
{
	int pinned = 0, used = 0;
	shape->step = JOB_STEP;
	shape->parts = shape->passes = 1;
	if (direction == FW_FORWARD) {
		const int group = a->nhq / a->nhk;
		shape->outer_rows = group % 2 == 0 || (a->mask == FW_BLOCKS && a->block_q == 64) ? 64 : 128;
		shape->heads = JOB_FORWARD_ROWS / shape->outer_rows;
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

static const struct stage stage = { "hopper.v1", sizeof(struct job), 0, false, NULL, choose, &v1_forward, &v1_backward,
	lists_build, rows_cast, NULL, NULL };

extern "C" const struct fw_provider attention_hopper_v1 = stage_provider<&stage>("hopper.v1");
