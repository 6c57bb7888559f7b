/* Times a kernel on memory and a stream of its own when it plans, and frees both. */
#include "kernels/fw_attention.h"

#include <cuda_runtime.h>

static void tune(void);
#define ON_PLAN() tune()
#include "good.cuh"

static void tune(void)
{
	enum { BYTES = 1 << 24 };
	void *memory;
	cudaStream_t own;
	cudaEvent_t mark[2];
	float ms = 0;
	if (cudaMalloc(&memory, BYTES) != cudaSuccess || cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
		cudaEventCreate(&mark[0]) != cudaSuccess || cudaEventCreate(&mark[1]) != cudaSuccess)
		abort();
	cudaEventRecord(mark[0], own);
	cudaMemsetAsync(memory, 1, BYTES, own);
	cudaEventRecord(mark[1], own);
	if (cudaEventSynchronize(mark[1]) != cudaSuccess || cudaEventElapsedTime(&ms, mark[0], mark[1]) != cudaSuccess)
		abort();
	cudaEventDestroy(mark[0]);
	cudaEventDestroy(mark[1]);
	cudaStreamDestroy(own);
	cudaFree(memory);
}
