// sums_google.cc - two benchmarks of Google Benchmark, using the kit's main.
#include "flopwatch_benchmark.h"

static void BM_sum(benchmark::State &state)
{
	std::vector<float> x((size_t)state.range(0), 1.0F);

	for (auto _ : state) {
		float sum = 0;

		for (size_t i = 0; i < (size_t)(20000 * 1) && i < x.size(); i++)
			benchmark::DoNotOptimize(sum += x[i]);
	}
}
#ifdef MIN_TIME
BENCHMARK(BM_sum)->Arg(1 << 15)->MinTime(MIN_TIME);
#else
BENCHMARK(BM_sum)->Arg(1 << 15);
#endif

static void BM_fails(benchmark::State &state)
{
	state.SkipWithError("no memory\nleft");
	for (auto _ : state) {
	}
}
BENCHMARK(BM_fails);

FLOPWATCH_MAIN()
