// The subset of nvbench that flopwatch_nvbench.h uses, minimal and on a CPU. Evaluates its stopping criterion as nvbench does:
// after each sample.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nvbench
{
using float64_t = double;

struct criterion_params {
	criterion_params(std::initializer_list<std::pair<std::string, double>>)
	{
	}
};

class stopping_criterion_base
{
	std::string m_name;

      public:
	stopping_criterion_base(std::string name, criterion_params) : m_name(std::move(name))
	{
	}
	virtual ~stopping_criterion_base() = default;
	const std::string &get_name() const
	{
		return m_name;
	}
	void initialize()
	{
		do_initialize();
	}
	void add_measurement(float64_t seconds)
	{
		do_add_measurement(seconds);
	}
	bool is_finished()
	{
		return do_is_finished();
	}

      protected:
	virtual void do_initialize() = 0;
	virtual void do_add_measurement(float64_t seconds) = 0;
	virtual bool do_is_finished() = 0;
};

class ten_samples final : public stopping_criterion_base
{
	int m_n = 0;

      public:
	ten_samples() : stopping_criterion_base("ten", {})
	{
	}

      protected:
	void do_initialize() override
	{
		m_n = 0;
	}
	void do_add_measurement(float64_t) override
	{
		m_n++;
	}
	bool do_is_finished() override
	{
		return m_n >= 10;
	}
};

struct criterion_manager {
	std::map<std::string, std::unique_ptr<stopping_criterion_base>> all;

	static criterion_manager &get()
	{
		static criterion_manager one;

		return one;
	}
	stopping_criterion_base &add(std::unique_ptr<stopping_criterion_base> criterion)
	{
		return *(all[criterion->get_name()] = std::move(criterion));
	}
};

struct state;

enum class log_level { run, pass, fail, skip, warn, info };

struct printer_base {
	printer_base(std::ostream &out, std::string) : m_ostream(out)
	{
	}
	virtual ~printer_base() = default;
	void log_run_state(const state &s)
	{
		do_log_run_state(s);
	}
	void log(log_level level, const std::string &text)
	{
		do_log(level, text);
	}

      protected:
	std::ostream &m_ostream;

	virtual void do_log(log_level, const std::string &)
	{
	}
	virtual void do_log_run_state(const state &)
	{
	}
};

struct benchmark_base {
	std::string m_name, m_criterion = "ten";
	std::vector<std::string> m_axes;
	std::function<void(state &)> m_generator;
	printer_base *m_printer = nullptr;
	int m_min_samples = 3;
	double m_timeout = 0;
	float m_throttle_threshold = 0.75F;

	const std::string &get_name() const
	{
		return m_name;
	}
	benchmark_base &set_stopping_criterion(std::string name)
	{
		m_criterion = std::move(name);
		return *this;
	}
	benchmark_base &set_min_samples(long n)
	{
		m_min_samples = (int)n;
		return *this;
	}
	benchmark_base &set_timeout(float64_t seconds)
	{
		m_timeout = seconds;
		return *this;
	}
#ifndef OLD_NVBENCH /* from before April 2025 */
	benchmark_base &set_throttle_threshold(float share)
	{
		m_throttle_threshold = share;
		return *this;
	}
#endif
	void set_printer(printer_base &printer)
	{
		m_printer = &printer;
	}
	void clear_printer()
	{
		m_printer = nullptr;
	}
	void run();
};

struct state {
	benchmark_base &m_benchmark;
	std::string m_axes, m_skipped;
	std::size_t m_bytes = 0;

	const benchmark_base &get_benchmark() const
	{
		return m_benchmark;
	}
	std::string get_axis_values_as_string(bool = false) const
	{
		return m_axes;
	}
	std::size_t get_global_memory_rw_bytes() const
	{
		return m_bytes;
	}
	void add_global_memory_reads(std::size_t bytes)
	{
		m_bytes += bytes;
	}
	void skip(std::string why)
	{
		m_skipped = std::move(why);
	}
	template <class Call> void exec(Call &&call)
	{
		stopping_criterion_base &criterion = *criterion_manager::get().all.at(m_benchmark.m_criterion);
		int samples = 0;

		if (!m_skipped.empty())
			return;
		criterion.initialize();
		call(); /* to warm up */
		do {
			auto began = std::chrono::steady_clock::now();

			call();
			criterion.add_measurement(
				std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
			samples++;
		} while (samples < m_benchmark.m_min_samples || !criterion.is_finished());
	}
};

inline void benchmark_base::run()
{
	for (const std::string &axes : m_axes) {
		state s{ *this, axes, "" };

		m_printer->log_run_state(s);
		try {
			m_generator(s);
		} catch (const std::exception &e) {
			m_printer->log(log_level::fail, std::string("Unexpected error: ") + e.what());
		}
		if (!s.m_skipped.empty())
			m_printer->log(log_level::skip, s.m_skipped);
	}
}

inline std::vector<std::unique_ptr<benchmark_base>> &all_benchmarks()
{
	static std::vector<std::unique_ptr<benchmark_base>> all;

	return all;
}

struct option_parser {
	std::vector<std::unique_ptr<benchmark_base>> &get_benchmarks()
	{
		return all_benchmarks();
	}
};

namespace detail
{
struct plain_printer final : printer_base {
	plain_printer() : printer_base(std::cout, "stdout")
	{
	}
	void do_log_run_state(const state &s) override
	{
		m_ostream << "ran " << s.get_benchmark().get_name() << "/" << s.get_axis_values_as_string() << "\n";
	}
};
inline void main_run_benchmarks(option_parser &parser)
{
	plain_printer printer;

	criterion_manager::get().add(std::make_unique<ten_samples>());
	for (auto &bench : parser.get_benchmarks()) {
		bench->set_printer(printer);
		bench->run();
		bench->clear_printer();
	}
}
} // namespace detail
} // namespace nvbench

#define NVBENCH_MAIN_RUN_BENCHMARKS(parser) nvbench::detail::main_run_benchmarks(parser)
#define NVBENCH_MAIN                                                                                                             \
	int main()                                                                                                               \
	{                                                                                                                        \
		nvbench::option_parser parser;                                                                                   \
                                                                                                                                 \
		NVBENCH_MAIN_RUN_BENCHMARKS(parser);                                                                             \
		std::cout << "results of " << parser.get_benchmarks().size() << " benchmarks\n";                                 \
		return 0;                                                                                                        \
	}
