// bench_blockops.cu - benchmarks of blockops.
#include <benchmark/benchmark.h>

#include "blockops/reduce.cuh"
#include "blockops/saxpy.cuh"
#include "blockops/series.cuh"
#include "blockops/transpose.cuh"
#include "device_time.cuh"

#ifdef __CUDACC__
constexpr int64_t scale = 1024;
#else
constexpr int64_t scale = 1;
#endif

static void bytes(benchmark::State &state, double each)
{
	state.SetBytesProcessed((int64_t)((double)state.iterations() * each));
}

static void saxpy(benchmark::State &state)
{
	size_t n = (size_t)(state.range(0) * scale);
	blockops::device_vector<float> x(n, 1), y(n, 2);

	for (auto _ : state) {
		device_time time(state);

		blockops::saxpy(n, 0.5f, x.data(), y.data());
	}
	bytes(state, 12.0 * (double)n);
}
BENCHMARK(saxpy)->RangeMultiplier(2)->Range(1 << 10, 1 << 15)->UseManualTime();

static void series(benchmark::State &state)
{
	size_t n = (size_t)(state.range(0) * scale);
	blockops::device_vector<float> x(n, 0.25f), y(n);

	for (auto _ : state) {
		device_time time(state);

		blockops::series(n, x.data(), y.data());
	}
	bytes(state, 8.0 * (double)n);
}
BENCHMARK(series)->RangeMultiplier(2)->Range(1 << 10, 1 << 15)->UseManualTime();

static void reduce(benchmark::State &state)
{
	size_t n = (size_t)(state.range(0) * scale);
	blockops::device_vector<float> x(n, 1), sum(1);

	for (auto _ : state) {
		device_time time(state);

		blockops::reduce(n, x.data(), sum.data());
	}
	bytes(state, 4.0 * (double)n);
}
BENCHMARK(reduce)->RangeMultiplier(2)->Range(1 << 10, 1 << 15)->UseManualTime();

static void transpose(benchmark::State &state)
{
	int n = (int)state.range(0) * (scale > 1 ? 16 : 1);
	blockops::device_vector<float> x((size_t)n * n, 1), y((size_t)n * n);

	for (auto _ : state) {
		device_time time(state);

		blockops::transpose(n, x.data(), y.data());
	}
	bytes(state, 8.0 * n * n);
}
BENCHMARK(transpose)->DenseRange(64, 384, 64)->UseManualTime();

BENCHMARK_MAIN();
