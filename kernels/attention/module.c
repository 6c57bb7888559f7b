/*
 * The one exported symbol of libattention.so and the table behind it. One library serves one device.
 */
#include "attention/providers.h"

static const struct fw_provider *const providers[] = {
#ifdef ATTENTION_CUDA
	&attention_hopper,
	&attention_hopper_v2,
	&attention_hopper_v1,
	&attention_cudnn,
	&attention_hopper_v0,
#else
	&attention_cpu,
#endif
};

static const struct fw_module module = {
	.abi = FW_ABI,
	.struct_size = sizeof module,
	.n_providers = sizeof providers / sizeof providers[0],
#ifdef ATTENTION_CUDA
	.build = "attention for CUDA",
#else
	.build = "attention for CPUs",
#endif
	.provider = providers,
};

const struct fw_module *fw_entry(uint32_t host_abi)
{
	return host_abi == FW_ABI ? &module : 0;
}
