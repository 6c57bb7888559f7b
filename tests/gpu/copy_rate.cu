/*
 * Rate at which this GPU copies within its memory, GB/s read and written: the best of 20 copies of 1 GiB, or for each number of
 * BYTES to copy the median of 21, each from the state in which the daemon times a call: a memset of twice the size of the L2
 * cache displaces its contents.
 * Usage: copy_rate [BYTES...]     a line for each: bytes, GB/s; of 1 GiB only the rate
 */
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                              \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

/* Milliseconds of each of `n` copies. */
static std::vector<float> copies(size_t bytes, int n, void *displacing, size_t displacing_bytes)
{
	void *from, *to;
	cudaEvent_t begin, end;
	std::vector<float> ms(n);

	CUDA(cudaMalloc(&from, bytes));
	CUDA(cudaMalloc(&to, bytes));
	CUDA(cudaMemset(from, 1, bytes));
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	for (int i = 0; i < n; i++) {
		if (displacing)
			CUDA(cudaMemsetAsync(displacing, i, displacing_bytes));
		CUDA(cudaEventRecord(begin));
		CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
		CUDA(cudaEventRecord(end));
		CUDA(cudaEventSynchronize(end));
		CUDA(cudaEventElapsedTime(&ms[i], begin, end));
	}
	CUDA(cudaFree(from));
	CUDA(cudaFree(to));
	std::sort(ms.begin(), ms.end());
	return ms;
}

int main(int argc, char **argv)
{
	const size_t gib = (size_t)1 << 30;
	int l2_bytes = 0;
	void *displacing;

	if (argc == 1) {
		printf("%.1f\n", 2e-6 * (double)gib / copies(gib, 20, NULL, 0)[0]);
		return 0;
	}
	CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
	CUDA(cudaMalloc(&displacing, 2 * (size_t)l2_bytes));
	for (int i = 1; i < argc; i++) {
		const size_t bytes = strtoull(argv[i], NULL, 10);
		printf("%zu %.1f\n", bytes, 2e-6 * (double)bytes / copies(bytes, 21, displacing, 2 * (size_t)l2_bytes)[10]);
	}
	return 0;
}
