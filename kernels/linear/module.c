/*
 * The one exported symbol of liblinear.so and the table behind it. One library serves one device.
 */
#include "linear/providers.h"

static const struct fw_provider *const providers[] = {
#ifdef LINEAR_CUDA
	&linear_skinny,
	&linear_hopper,
	&linear_v1,
	&linear_cublaslt,
	&linear_naive,
#else
	&linear_cpu,
#endif
};

static const struct fw_module module = {
	.abi = FW_ABI,
	.struct_size = sizeof module,
	.n_providers = sizeof providers / sizeof providers[0],
#ifdef LINEAR_CUDA
	.build = "linear for CUDA",
#else
	.build = "linear for CPUs",
#endif
	.provider = providers,
};

const struct fw_module *fw_entry(uint32_t host_abi)
{
	return host_abi == FW_ABI ? &module : 0;
}
