// transpose.cu - a matrix is transposed through shared memory; its check, and the calls that are timed.
#include <cstdio>
#include <vector>

#include "flopwatch.h"

constexpr int N = 4096, TILE = 32, ROWS = 8;

__global__ void transpose(const float *in, float *out)
{
	__shared__ float tile[TILE][TILE + 1]; // one more column: no two threads of a warp meet in a bank
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	for (int i = 0; i < TILE; i += ROWS)
		tile[threadIdx.y + i][threadIdx.x] = in[(size_t)(y + i) * N + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int i = 0; i < TILE; i += ROWS)
		out[(size_t)(y + i) * N + x] = tile[threadIdx.x][threadIdx.y + i];
}

struct buffers {
	float *in, *out;
};

static const char *check(void *argument)
{
	const struct buffers *b = (const struct buffers *)argument;
	std::vector<float> in((size_t)N * N), out((size_t)N * N);

	cudaMemcpy(in.data(), b->in, in.size() * sizeof(float), cudaMemcpyDeviceToHost);
	cudaMemcpy(out.data(), b->out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			if (out[(size_t)x * N + y] != in[(size_t)y * N + x])
				return "an element is not where it belongs";
	return nullptr;
}

int main()
{
	const size_t bytes = sizeof(float) * N * N;
	std::vector<float> start((size_t)N * N);
	struct buffers b = {};
	cudaStream_t stream = nullptr;

	for (size_t i = 0; i < start.size(); i++)
		start[i] = (float)(i % 8191);
	if (cudaMalloc((void **)&b.in, bytes) != cudaSuccess || cudaMalloc((void **)&b.out, bytes) != cudaSuccess ||
		cudaMemcpy(b.in, start.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
		fprintf(stderr, "transpose: %s\n", cudaGetErrorString(cudaGetLastError()));
		return 1;
	}
	flopwatch_check(check, &b);
	FLOPWATCH_CUDA("transpose/4096", 0, 2.0 * bytes, stream)
	{
		transpose<<<dim3(N / TILE, N / TILE), dim3(TILE, ROWS), 0, stream>>>(b.in, b.out);
	}
	return 0;
}
