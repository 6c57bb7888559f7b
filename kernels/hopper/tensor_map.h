/**
 * tensor_map.h - look up the driver function that encodes a tensor map for TMA on the host.
 */
#ifndef HOPPER_TENSOR_MAP_H
#define HOPPER_TENSOR_MAP_H

#include <cuda.h>
#include <cuda_runtime.h>

typedef CUresult (*tensor_map_encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
	const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
	CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/** cuTensorMapEncodeTiled of the loaded driver, so that a module does not link to libcuda. NULL: the driver does not have it. */
static inline tensor_map_encode_fn tensor_map_encode(void)
{
	void *function = NULL;
	cudaDriverEntryPointQueryResult found;
	if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
			cudaSuccess ||
		found != cudaDriverEntryPointSuccess)
		return NULL;
	return (tensor_map_encode_fn)function;
}

#endif
