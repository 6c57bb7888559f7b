/*
 * The one exported symbol of liblayernorm.so and the table behind it. One library serves one device.
 */
#include "layernorm/providers.h"

static const struct fw_provider *const providers[] = {
#ifdef LAYERNORM_CUDA
	&layernorm_cuda,
#else
	&layernorm_cpu,
#endif
};

static const struct fw_module module = {
	.abi = FW_ABI,
	.struct_size = sizeof module,
	.n_providers = sizeof providers / sizeof providers[0],
	.build = "layernorm",
	.provider = providers,
};

const struct fw_module *fw_entry(uint32_t host_abi)
{
	return host_abi == FW_ABI ? &module : 0;
}
