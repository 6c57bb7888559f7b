/*
 * Table of the providers of liblayernorm.so. A library is built for one device.
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
