// sums_nvbench.cc - interleaved nvbench benchmarks; built with the stand-in here, where a call runs on the CPU.
#include <nvbench/nvbench.cuh>

#include <stdexcept>

#include "flopwatch_nvbench.h"

static volatile float total;

static void sum(nvbench::state &state, std::size_t n)
{
	std::vector<float> x(n, 1.0F);

	if (n == 2000)
		state.skip("too many\nfor this device");
	state.add_global_memory_reads(n * sizeof(float));
	int calls = 0;

	state.exec([&x, &calls] {
		if (x.size() == 8000 && ++calls == 5)
			throw std::runtime_error("no memory\nleft");
		for (std::size_t i = 0; i < x.size() * 20; i++)
			total = total + x[i % x.size()];
	});
}

static bool declare(std::vector<std::string> axes, std::function<void(nvbench::state &)> generator)
{
	auto bench = std::make_unique<nvbench::benchmark_base>();

	bench->m_name = "sum";
	bench->m_axes = std::move(axes);
	bench->m_generator = std::move(generator);
	nvbench::all_benchmarks().push_back(std::move(bench));
	return true;
}

static const bool declared[] = {
	declare({ "Device=0 N=1000", "Device=0 N=2000" },
		[](nvbench::state &state) { sum(state, state.get_axis_values_as_string() == "Device=0 N=1000" ? 1000 : 2000); }),
	declare({ "Device=1 N=4000", "Device=1 N=8000" },
		[](nvbench::state &state) { sum(state, state.get_axis_values_as_string() == "Device=1 N=4000" ? 4000 : 8000); }),
};

NVBENCH_MAIN
