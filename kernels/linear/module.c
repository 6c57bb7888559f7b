/* Table of the providers of liblinear.so. A library is built for one device. */
#include "common/module.h"
#include "linear/providers.h"
#include "linear/total.h"

#ifdef LINEAR_CUDA
TOTAL_PROVIDER(skinny, FW_CUDA, "skinny");
TOTAL_PROVIDER(hopper, FW_CUDA, "hopper");
TOTAL_PROVIDER(fp8, FW_CUDA, "fp8");
TOTAL_PROVIDER(v1, FW_CUDA, "v1");
TOTAL_PROVIDER(cublaslt, FW_CUDA, "cublaslt");
TOTAL_PROVIDER(naive, FW_CUDA, "naive");
#else
TOTAL_PROVIDER(cpu, FW_CPU, "cpu");
TOTAL_PROVIDER(cpu_block, FW_CPU, "cpu.block");
#endif

static const struct fw_provider *const providers[] = {
#ifdef LINEAR_CUDA
	&with_total_skinny,
	&with_total_hopper,
	&with_total_fp8,
	&with_total_v1,
	&with_total_cublaslt,
	&with_total_naive,
	&linear_block,
	&linear_naive_block,
#else
	&with_total_cpu,
	&with_total_cpu_block,
#endif
};

#ifdef LINEAR_CUDA
MODULE("linear for CUDA");
#else
MODULE("linear for CPUs");
#endif
