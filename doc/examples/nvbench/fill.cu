// fill.cu - a kernel that writes memory, timed by nvbench.
#include <nvbench/nvbench.cuh>

__global__ void fill(float *out, size_t n, float value)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		out[i] = value;
}

static void fill_bench(nvbench::state &state)
{
	const size_t n = (size_t)state.get_int64("n");
	float *out = nullptr;

	NVBENCH_CUDA_CALL(cudaMalloc((void **)&out, n * sizeof(float)));
	state.add_global_memory_writes<float>(n);
	state.exec([&](nvbench::launch &launch) { fill<<<1024, 256, 0, launch.get_stream()>>>(out, n, 1.0F); });
	NVBENCH_CUDA_CALL(cudaFree(out));
}
NVBENCH_BENCH(fill_bench).add_int64_power_of_two_axis("n", { 20, 24 });
