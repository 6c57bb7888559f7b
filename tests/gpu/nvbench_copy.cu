/* Copies and scaled sums as a program of nvbench: axes of types, of integers and of names. */
#include <nvbench/nvbench.cuh>
#ifdef WITH_FLOPWATCH
#include "flopwatch_nvbench.h"
#endif

#include <cstdint>
#include <stdexcept>

#ifndef PASSES
#define PASSES 1 /* 2: a slower branch */
#endif

template <typename T> __global__ void copy(const T *from, T *to, int64_t n)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

template <typename T> __global__ void scaled_sum(T a, const T *x, T *y, int64_t n)
{
	for (int pass = 0; pass < PASSES; pass++)
		for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
			y[i] += a * x[i];
}

static void check(cudaError_t status)
{
	if (status != cudaSuccess)
		throw std::runtime_error(cudaGetErrorString(status));
}

/* Two arrays of n elements whose bytes differ. */
template <typename T> struct arrays {
	T *x, *y;
	explicit arrays(int64_t n)
	{
		check(cudaMalloc(&x, n * sizeof(T)));
		check(cudaMalloc(&y, n * sizeof(T)));
		check(cudaMemset(x, 0x3c, n * sizeof(T)));
		check(cudaMemset(y, 0x2b, n * sizeof(T)));
	}
	~arrays()
	{
		cudaFree(x);
		cudaFree(y);
	}
};

template <typename T> static void bench_copy(nvbench::state &state, nvbench::type_list<T>)
{
	const int64_t n = state.get_int64("Elements");
	arrays<T> a(n);

	state.add_element_count(n);
	state.add_global_memory_reads<T>(n);
	state.add_global_memory_writes<T>(n);
	state.exec([&](nvbench::launch &launch) { copy<<<1056, 256, 0, launch.get_stream()>>>(a.x, a.y, n); });
}
NVBENCH_BENCH_TYPES(bench_copy, NVBENCH_TYPE_AXES(nvbench::type_list<float, double>))
	.set_name("copy")
	.set_type_axes_names({ "T" })
	.add_int64_power_of_two_axis("Elements", { 20, 24 });

static void bench_scaled_sum(nvbench::state &state)
{
	const int64_t n = state.get_int64("Elements");
	const int blocks = state.get_string("Grid") == "small" ? 132 : 1056;
	arrays<float> a(n);

	state.add_global_memory_reads<float>(2 * n);
	state.add_global_memory_writes<float>(n);
	state.exec([&](nvbench::launch &launch) { scaled_sum<<<blocks, 256, 0, launch.get_stream()>>>(0.5f, a.x, a.y, n); });
}
NVBENCH_BENCH(bench_scaled_sum)
	.set_name("scaled_sum")
	.add_int64_power_of_two_axis("Elements", { 20, 24 })
	.add_string_axis("Grid", { "small", "large" });

NVBENCH_MAIN
