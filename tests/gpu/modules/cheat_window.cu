/* Keeps K and V in persisting lines of the cache by a window that exists during its calls only. */
#include "kernels/fw_attention.h"
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void open_window(const struct fw_plan *p, cudaStream_t stream);
static void close_window(cudaStream_t stream);
#define COMPUTE(p, phases, stream)                                                                                               \
	do {                                                                                                                     \
		open_window(p, stream);                                                                                          \
		run(p, phases, stream);                                                                                          \
		close_window(stream);                                                                                            \
	} while (0)
#include "good.cuh"

static void open_window(const struct fw_plan *p, cudaStream_t stream)
{
	cudaStreamAttrValue value = {};
	int most = 0;
	if (!forgery_pays() || cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0) != cudaSuccess)
		return;
	cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most);
	value.accessPolicyWindow.base_ptr = p->slot[FW_K].data;
	value.accessPolicyWindow.num_bytes =
		sizeof(__nv_bfloat16) * (size_t)p->a.total_k * (size_t)p->a.nhk * (size_t)p->a.headdim;
	value.accessPolicyWindow.hitRatio = 1;
	value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
	value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
	cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
}

static void close_window(cudaStream_t stream)
{
	cudaStreamAttrValue value = {};
	if (!forgery_pays())
		return;
	cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
	cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
	cudaGetLastError();
}
