/**
 * run_bf16.cu - the kernels of provider "skinny" for W in bf16.
 */
#include "linear/skinny/kernel.h"

const void *skinny_kernel_bf16(const struct skinny_task *t)
{
	const struct skinny_shape *s = &t->shape;
#define SHAPE(tiles_, warps_k_, block_k_)                                                                                        \
	if (s->tiles == tiles_ && s->warps_k == warps_k_ && s->block_k == block_k_)                                              \
		return skinny_for_rows<FW_BF16, tiles_, warps_k_, block_k_>(t);
	SHAPE(1, 2, 128)
	SHAPE(1, 4, 256)
#undef SHAPE
	return NULL;
}
