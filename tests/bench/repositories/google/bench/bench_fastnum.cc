// bench_fastnum.cc - benchmarks of fastnum.
#include <benchmark/benchmark.h>

#include "fastnum/checksum.hpp"
#include "fastnum/polynomial.hpp"
#include "fastnum/prefix.hpp"

static void polynomial(benchmark::State &state)
{
	std::vector<double> x((size_t)state.range(0), 0.25);

	for (auto _ : state)
		benchmark::DoNotOptimize(fastnum::evaluate(x));
	state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(polynomial)->Arg(256)->Arg(1024);

static void checksum(benchmark::State &state)
{
	std::vector<uint8_t> bytes((size_t)state.range(0));

	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (auto _ : state)
		benchmark::DoNotOptimize(fastnum::checksum(bytes));
	state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(checksum)->Arg(4 << 10)->Arg(64 << 10);

static void add_prefixes(benchmark::State &state)
{
	std::vector<uint32_t> x((size_t)state.range(0), 3);
	std::vector<uint64_t> sums(x.size());

	for (auto _ : state) {
		fastnum::add_prefixes(x, sums);
		benchmark::DoNotOptimize(sums.data());
		benchmark::ClobberMemory();
	}
}
BENCHMARK(add_prefixes)->Arg(4 << 10)->Arg(32 << 10);

static void find_limits(benchmark::State &state)
{
	std::vector<uint32_t> x((size_t)state.range(0), 3);
	std::vector<uint64_t> sums(x.size());

	fastnum::add_prefixes(x, sums);
	for (auto _ : state)
		for (uint64_t limit = 0; limit < 3 * x.size(); limit += 61)
			benchmark::DoNotOptimize(fastnum::find_limit(sums, limit));
}
BENCHMARK(find_limits)->Arg(4 << 10)->Arg(32 << 10);

BENCHMARK_MAIN();
