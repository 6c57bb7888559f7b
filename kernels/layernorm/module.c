/*
 * The providers of liblayernorm.so. One library serves one device.
 */
#include "common/module.h"
#include "layernorm/providers.h"

static const struct fw_provider *const providers[] = {
#ifdef LAYERNORM_CUDA
	&layernorm_cuda,
#else
	&layernorm_cpu,
#endif
};

MODULE("layernorm");
