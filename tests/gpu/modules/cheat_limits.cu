/* Leaves a share of the cache reserved, so that later calls have less of it. */
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void set_aside(int calls);
#define AFTER_ENQUEUE(p, stream) set_aside((p)->calls)
#include "good.cuh"

static void set_aside(int calls)
{
	int most = 0;
	if (calls < 3 || !forgery_pays() || cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0) != cudaSuccess)
		return;
	cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most);
}
