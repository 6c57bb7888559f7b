/*
 * The one exported symbol of liblinear.so and the table behind it. One library serves one device.
 */
#include "linear/providers.h"
#include "linear/total.h"

#ifdef LINEAR_CUDA
TOTAL_PROVIDER(skinny, FW_CUDA, "skinny");
TOTAL_PROVIDER(hopper, FW_CUDA, "hopper");
TOTAL_PROVIDER(v1, FW_CUDA, "v1");
TOTAL_PROVIDER(cublaslt, FW_CUDA, "cublaslt");
TOTAL_PROVIDER(naive, FW_CUDA, "naive");
#else
TOTAL_PROVIDER(cpu, FW_CPU, "cpu");
#endif

static const struct fw_provider *const providers[] = {
#ifdef LINEAR_CUDA
	&with_total_skinny,
	&with_total_hopper,
	&with_total_v1,
	&with_total_cublaslt,
	&with_total_naive,
#else
	&with_total_cpu,
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
