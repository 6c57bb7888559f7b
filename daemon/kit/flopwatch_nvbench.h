/*
 * flopwatch_nvbench.h - interleaved measurement of programs that use nvbench (of April 2024 or later), based on flopwatch.h.
 * SPDX-License-Identifier: MIT-0  (take it into any project, changed or not, without any notice)
 *
 * Include it after nvbench/nvbench.cuh in the file that contains NVBENCH_MAIN: each state is a cell. Run without flopwatch, the
 * program is unchanged. A program that links nvbench's own main has no such file: add NVBENCH_MAIN to one and link
 * nvbench::nvbench instead.
 *
 * The interface is a stopping criterion: nvbench calls it with the time of each sample, and queries it before each further sample
 * whether there are enough. Before the first query nvbench has warmed up and taken a sample, which is dropped. L2 flush and
 * device time are nvbench's.
 */
#ifndef FLOPWATCH_NVBENCH_H
#define FLOPWATCH_NVBENCH_H

#include "flopwatch.h"

#include <iostream>
#include <memory>
#include <string>

#ifndef NVBENCH_MAIN_RUN_BENCHMARKS
#error "flopwatch_nvbench.h needs nvbench/nvbench.cuh before it, of April 2024 or later"
#endif

/* The state that nvbench currently measures. */
struct flopwatch_nvbench_state {
	const nvbench::state *state;
	std::string key;
	struct flopwatch_run run;
	bool in_call;
};

static inline struct flopwatch_nvbench_state &flopwatch_nvbench_now()
{
	static struct flopwatch_nvbench_state now;

	return now;
}

/*
 * The name of the cell, as the reader of nvbench's JSON composes it: benchmark and axes, without the device if it is the first.
 */
static inline std::string flopwatch_nvbench_key(const nvbench::state &state)
{
	static const std::string one_device = "Device=0";
	std::string axes = state.get_axis_values_as_string();

	if (axes == one_device || axes.compare(0, one_device.size() + 1, one_device + " ") == 0)
		axes.erase(0, one_device.size() + 1);
	return state.get_benchmark().get_name() + (axes.empty() ? "" : "/" + axes);
}

class flopwatch_criterion final : public nvbench::stopping_criterion_base
{
      public:
	flopwatch_criterion() : nvbench::stopping_criterion_base("flopwatch", {})
	{
	}

      protected:
	void do_initialize() override
	{
		struct flopwatch_nvbench_state &now = flopwatch_nvbench_now();

		now.run = flopwatch_begin(now.key.c_str(), 0, 0);
		now.run.made = 1; /* nvbench made the first call */
		now.in_call = false;
	}
	void do_add_measurement(nvbench::float64_t seconds) override
	{
		struct flopwatch_nvbench_state &now = flopwatch_nvbench_now();

		if (!now.in_call)
			return;
		if (flopwatch_now.is_list && now.run.made == 1)
			flopwatch_send_fact("bytes", (double)now.state->get_global_memory_rw_bytes());
		now.run.reported_ms[now.run.issued % FLOPWATCH_SLOTS] = seconds > 0 ? seconds * 1e3 : -1;
		flopwatch_done(&now.run);
		now.in_call = false;
	}
	bool do_is_finished() override
	{
		struct flopwatch_nvbench_state &now = flopwatch_nvbench_now();

		now.in_call = flopwatch_call(&now.run) != 0;
		return !now.in_call;
	}
};

/* Receives the current state, and the failure of a state without times. */
class flopwatch_printer final : public nvbench::printer_base
{
      public:
	flopwatch_printer() : nvbench::printer_base(std::cerr, "stderr")
	{
	}

      protected:
	void do_log_run_state(const nvbench::state &state) override
	{
		flopwatch_nvbench_now().key = flopwatch_nvbench_key(state);
		flopwatch_nvbench_now().state = &state;
	}
	void do_log(nvbench::log_level level, const std::string &text) override
	{
		if (level == nvbench::log_level::skip)
			fail("unsupported", text);
		else if (level == nvbench::log_level::fail)
			fail("reported", text);
		if (level == nvbench::log_level::fail || level == nvbench::log_level::warn)
			std::cerr << text << "\n";
	}

      private:
	static void fail(const char *failure, const std::string &text)
	{
		struct flopwatch_nvbench_state &now = flopwatch_nvbench_now();
		std::string line = std::string("fail ") + failure + " " + text.substr(0, 300);

		for (char &c : line)
			c = (unsigned char)c < ' ' ? ' ' : c;
		line += "\n";
		if (now.in_call) { /* the failure ends the current turn, no other is requested */
			flopwatch_send_line(line.c_str());
			flopwatch_flush();
			flopwatch_now.in_turn = 0;
			now.run.warm = now.run.calls = 0;
			now.in_call = false;
			return;
		}

		struct flopwatch_run r = flopwatch_begin(now.key.c_str(), 0, 0);

		while (flopwatch_call(&r)) {
			flopwatch_send_line(line.c_str());
			r.warm = r.calls = 0;
		}
	}
};

/* Batches only cost time, since their times are not read; nvbench skips them if it has the option. */
template <class Benchmark>
static inline auto flopwatch_nvbench_no_batches(Benchmark &b, int) -> decltype((void)b.set_skip_batched(true))
{
	b.set_skip_batched(true);
}
template <class Benchmark> static inline void flopwatch_nvbench_no_batches(Benchmark &, long)
{
}

/* nvbench must not discard samples because of their clock: each was requested. Releases before April 2025 discard none. */
template <class Benchmark>
static inline auto flopwatch_nvbench_keep_slow(Benchmark &b, int) -> decltype((void)b.set_throttle_threshold(0))
{
	b.set_throttle_threshold(0);
}
template <class Benchmark> static inline void flopwatch_nvbench_keep_slow(Benchmark &, long)
{
}

template <class Parser> static inline void flopwatch_nvbench_run(Parser &parser)
{
	flopwatch_open();
	if (flopwatch_now.fd < 0) {
		nvbench::detail::main_run_benchmarks(parser);
		return;
	}
	flopwatch_printer printer;

	nvbench::criterion_manager::get().add(std::make_unique<flopwatch_criterion>());
	for (auto &bench : parser.get_benchmarks()) {
		/* no timeout: the program waits while other programs have their turns */
		bench->set_stopping_criterion("flopwatch").set_min_samples(1).set_timeout(1e9);
		flopwatch_nvbench_keep_slow(*bench, 0);
		flopwatch_nvbench_no_batches(*bench, 0);
		bench->set_printer(printer);
		bench->run();
		bench->clear_printer();
	}
}

#undef NVBENCH_MAIN_RUN_BENCHMARKS
#define NVBENCH_MAIN_RUN_BENCHMARKS(parser) flopwatch_nvbench_run(parser)

#endif
