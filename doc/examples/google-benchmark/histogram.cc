// histogram.cc - two ways to count bytes, timed by Google Benchmark.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

static std::vector<uint8_t> bytes_of(size_t n)
{
	std::vector<uint8_t> data(n);
	uint32_t x = 1;

	for (auto &b : data)
		b = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	return data;
}

static void plain(benchmark::State &state)
{
	const auto data = bytes_of((size_t)state.range(0));

	for (auto _ : state) {
		std::array<uint32_t, 256> count = {};

		for (uint8_t b : data)
			count[b]++;
		benchmark::DoNotOptimize(count);
	}
}
BENCHMARK(plain)->Arg(1 << 16)->MinTime(0.05);

static void by_four(benchmark::State &state)
{
	const auto data = bytes_of((size_t)state.range(0));

	for (auto _ : state) {
		std::array<std::array<uint32_t, 256>, 4> count = {};

		for (size_t i = 0; i < data.size(); i += 4)
			for (size_t k = 0; k < 4; k++)
				count[k][data[i + k]]++;
		benchmark::DoNotOptimize(count);
	}
}
BENCHMARK(by_four)->Arg(1 << 16)->MinTime(0.05);

BENCHMARK_MAIN();
