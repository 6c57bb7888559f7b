/*
 * Table of the providers of libgrouped.so. A library is built for one device.
 */
#include "common/module.h"
#include "grouped/providers.h"

static const struct fw_provider *const providers[] = {
#ifdef GROUPED_CUDA
	&grouped_mma,
#else
	&grouped_cpu,
#endif
};

MODULE("grouped");
