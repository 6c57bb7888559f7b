// reduce.cuh - sum of an array.
#pragma once

#include "blockops/runtime.cuh"

namespace blockops {

#ifdef __CUDACC__
__global__ void reduce_kernel(size_t n, const float *x, float *sum)
{
	__shared__ float partial[block_size / 32];
	float value = 0;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		value += x[i];
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_down_sync(0xffffffffu, value, step);
	if (threadIdx.x % 32 == 0)
		partial[threadIdx.x / 32] = value;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int i = 1; i < block_size / 32; i++)
			value += partial[i];
		atomicAdd(sum, value);
	}
}

inline void reduce(size_t n, const float *x, float *sum)
{
	BLOCKOPS_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum));
	reduce_kernel<<<1056, block_size>>>(n, x, sum);
}
#else
inline void reduce(size_t n, const float *x, float *sum)
{
	float value = 0;

	for (size_t i = 0; i < n; i++)
		value += x[i];
	*sum = value;
}
#endif

} // namespace blockops
