// google_bench.cc - benchmarks with each kind of name that Google Benchmark makes. Their times are processor times, which the load of
// the machine changes least.
#include <benchmark/benchmark.h>

#include <numeric>
#include <time.h>
#include <vector>

#ifndef MIN_TIME
#define MIN_TIME 5
#endif
static const int work = 1; // a test multiplies it

template <class T> static void add(const std::vector<T> &x, int times = 1)
{
	T sum = 0;

	for (int i = 0; i < times; i++)
		benchmark::DoNotOptimize(sum = std::accumulate(x.begin(), x.end(), sum));
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

template <class T> static void add_each(benchmark::State &state, size_t n, int times)
{
	std::vector<T> x(n, T(1));

	for (auto _ : state) {
		double began = cpu_s();

		add(x, times);
		state.SetIterationTime(cpu_s() - began);
	}
}

class Table : public benchmark::Fixture
{
      public:
	std::vector<float> x;

	void SetUp(const benchmark::State &state) override
	{
		x.assign((size_t)state.range(0), 1.0F);
	}
};
BENCHMARK_DEFINE_F(Table, Sum)(benchmark::State &state)
{
	for (auto _ : state)
		add(x);
}
BENCHMARK_REGISTER_F(Table, Sum)->Arg(4096)->UseRealTime();

static void BM_range(benchmark::State &state)
{
	add_each<int>(state, (size_t)state.range(0), 1);
	state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_range)->RangeMultiplier(8)->Range(512, 4096)->UseManualTime()->Complexity();

static void BM_product(benchmark::State &state)
{
	add_each<int>(state, (size_t)state.range(0), (int)state.range(1));
}
BENCHMARK(BM_product)->ArgsProduct({ { 512, 1024 }, { 1, 2 } })->ArgNames({ "n", "times" })->UseManualTime();

template <class T, int n> static void BM_template(benchmark::State &state)
{
	add_each<T>(state, n, 1);
}
BENCHMARK_TEMPLATE(BM_template, unsigned long, 2048)->UseManualTime();

static void BM_work(benchmark::State &state)
{
	add_each<int>(state, 16384, work);
}
BENCHMARK(BM_work)->UseManualTime();
BENCHMARK(BM_range)->Name("long")->Arg(2048)->UseManualTime()->MinTime(MIN_TIME);
BENCHMARK(BM_range)->Name("long")->Arg(2048)->UseManualTime()->MinTime(MIN_TIME + 1);
BENCHMARK(BM_range)->Name("repeated")->Arg(512)->UseManualTime()->Repetitions(3)->ReportAggregatesOnly();

static void BM_fails(benchmark::State &state)
{
	state.SkipWithError("no memory left");
	for (auto _ : state) {
	}
}
BENCHMARK(BM_fails)->Arg(8);

BENCHMARK_MAIN();
