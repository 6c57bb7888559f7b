/* How fast this GPU copies within its memory: GB/s read and written, the best of 20 copies of 1 GiB. */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                              \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

int main(void)
{
	const size_t bytes = (size_t)1 << 30;
	void *from, *to;
	cudaEvent_t begin, end;
	double best = 0;

	CUDA(cudaMalloc(&from, bytes));
	CUDA(cudaMalloc(&to, bytes));
	CUDA(cudaMemset(from, 1, bytes));
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	for (int i = 0; i < 20; i++) {
		float ms;
		CUDA(cudaEventRecord(begin));
		CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
		CUDA(cudaEventRecord(end));
		CUDA(cudaEventSynchronize(end));
		CUDA(cudaEventElapsedTime(&ms, begin, end));
		const double rate = 2 * (double)bytes / ms * 1e-6;
		best = rate > best ? rate : best;
	}
	printf("%.1f\n", best);
	return 0;
}
