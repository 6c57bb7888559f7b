/**
 * launch.h - host launch of a main kernel: its shared memory, its grid, its only parameter.
 */
#ifndef HOPPER_LAUNCH_H
#define HOPPER_LAUNCH_H

#include <cuda_runtime.h>

/** Let `kernel` use this much dynamic shared memory on the current device. Units: `shared` bytes. */
static inline cudaError_t launch_allow(const void *kernel, int shared)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
}

/** As above, for a kernel with two blocks per multiprocessor: the shared-memory carveout must be the maximum. */
static inline cudaError_t launch_allow_all(const void *kernel, int shared)
{
	const cudaError_t e = launch_allow(kernel, shared);
	return e != cudaSuccess ? e
				: cudaFuncSetAttribute(
					  kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
}

/** Launch `kernel`, which takes `*job` by value. Units: `shared` bytes. Err: the result of the launch or of cudaGetLastError. */
static inline cudaError_t launch(
	const void *kernel, int64_t blocks, int threads, int shared, const void *job, cudaStream_t stream)
{
	void *arguments[] = { const_cast<void *>(job) };
	const cudaError_t launched =
		cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3((unsigned)threads), arguments, (size_t)shared, stream);
	const cudaError_t last = cudaGetLastError();
	return launched != cudaSuccess ? launched : last;
}

#endif
