// spin.cu - two cells of fixed work on a GPU, one bound by arithmetic and one by memory, using the kit. The file `share` in the
// same folder contains the fraction of added work, e.g. 0.02. Built with: nvcc -O3 -std=c++17 -arch=native -I KIT -o spin spin.cu
#include "flopwatch.h"

enum { BLOCKS = 1056, THREADS = 256 };

static __global__ void arithmetic(float *out, int rounds)
{
	float x = threadIdx.x, y = blockIdx.x;

	for (int i = 0; i < rounds; i++) {
		x = x * 1.0001F + 0.5F;
		y = y * 0.9999F + x;
	}
	out[blockIdx.x * THREADS + threadIdx.x] = x + y;
}

static __global__ void copy(float4 *to, const float4 *from, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (size_t)BLOCKS * THREADS)
		to[i] = from[i];
}

int main()
{
	double share = 0;
	FILE *f = fopen("share", "r");

	if (!f || fscanf(f, "%lf", &share) != 1)
		return 1;
	fclose(f);

	int rounds = (int)(40000 * (1 + share));
	size_t n = (size_t)(BLOCKS * THREADS * 100 * (1 + share));
	float4 *to = nullptr, *from = nullptr;

	if (cudaMalloc(&to, n * sizeof *to) != cudaSuccess || cudaMalloc(&from, n * sizeof *from) != cudaSuccess)
		return 1;
	cudaMemset(from, 0, n * sizeof *from);
	FLOPWATCH_CUDA("arithmetic", 4.0 * rounds * BLOCKS * THREADS, 0, 0)
	{
		arithmetic<<<BLOCKS, THREADS>>>((float *)to, rounds);
	}
	FLOPWATCH_CUDA("copy", 0, 2.0 * n * sizeof *to, 0)
	{
		copy<<<BLOCKS, THREADS>>>(to, from, n);
	}
	return 0;
}
