/*
 * flopwatch_benchmark.h - interleaved measurement of programs that use Google Benchmark, based on flopwatch.h.
 * SPDX-License-Identifier: MIT-0  (take it into any project, changed or not, without any notice)
 *
 * Replace BENCHMARK_MAIN() by FLOPWATCH_MAIN(): each benchmark is a cell. Run without flopwatch, the program is unchanged.
 */
#ifndef FLOPWATCH_BENCHMARK_H
#define FLOPWATCH_BENCHMARK_H

#include "flopwatch.h"

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>
#include <vector>

/*
 * flopwatch needs many short runs, and a benchmark's own MinTime would make each of them long. It is reduced when the benchmark
 * is registered: include this file above the benchmarks.
 */
static inline double flopwatch_google_min_time(double seconds)
{
	return getenv("FLOPWATCH_INTERLEAVE") ? 0.002 : seconds;
}
#define MinTime(seconds)       MinTime(flopwatch_google_min_time(seconds))
#define MinWarmUpTime(seconds) MinWarmUpTime(flopwatch_google_min_time(seconds))

/* Stores the time of an iteration, or the reason why there is none; its field differs between releases. */
class flopwatch_reporter : public benchmark::BenchmarkReporter
{
      public:
	double ms = 0;
	long iterations = 0;
	std::string why;

	bool ReportContext(const Context &) override
	{
		return true;
	}
	void ReportRuns(const std::vector<Run> &runs) override
	{
		for (const Run &run : runs) {
			if (run.run_type != Run::RT_Iteration)
				continue;
			why = problem(run, 0);
			if (!why.empty() || run.iterations <= 0)
				continue;
			iterations = (long)run.iterations;
			ms = run.real_accumulated_time * 1e3 / (double)iterations;
		}
	}

      private:
	template <class R> static auto problem(const R &run, int) -> decltype(std::string(run.error_message))
	{
		return run.error_occurred ? "failed: " + run.error_message : std::string();
	}
	template <class R> static auto problem(const R &run, long) -> decltype(std::string(run.skip_message))
	{
		return run.skipped ? "failed: " + run.skip_message : std::string();
	}
};

static inline void flopwatch_google_set(const char *option)
{
	char program[] = "flopwatch";
	std::string text(option);
	char *words[] = { program, &text[0], nullptr };
	int n = 2;

	benchmark::Initialize(&n, words);
}

#define FLOPWATCH_GOOGLE_TIME "--benchmark_min_time=0.002"

/* One benchmark as a cell: every call is one short run of it. */
static inline void flopwatch_google_cell(const std::string &name)
{
	struct flopwatch_run r = flopwatch_begin(name.c_str(), 0, 0);
	std::string pattern = "^";
	int is_single = 0;

	for (char c : name)
		pattern += strchr(".^$*+?()[]{}|\\", c) ? std::string("\\") + c : std::string(1, c);
	pattern += "$";
	while (flopwatch_call(&r)) {
		flopwatch_reporter reporter;

		if (r.is_single != is_single) /* any time is sufficient, so that there is only one iteration */
			flopwatch_google_set(r.is_single ? "--benchmark_min_time=0.000000001" : FLOPWATCH_GOOGLE_TIME);
		is_single = r.is_single;
		benchmark::RunSpecifiedBenchmarks(&reporter, pattern);
		r.reported_ms[r.issued % FLOPWATCH_SLOTS] = reporter.ms;
		r.repeats[r.issued % FLOPWATCH_SLOTS] = reporter.iterations;
		if (reporter.ms > 0) {
			flopwatch_done(&r);
			continue;
		}
		std::string line = "fail reported " + (reporter.why.empty() ? "it has no time" : reporter.why).substr(0, 300);

		for (char &c : line)
			c = (unsigned char)c < ' ' ? ' ' : c;
		flopwatch_send_line((line + "\n").c_str());
		r.warm = r.calls = 0;
	}
	if (is_single)
		flopwatch_google_set(FLOPWATCH_GOOGLE_TIME);
}

/* Under flopwatch each run is short; otherwise the program is unchanged. */
static inline int flopwatch_google(int argc, char **argv)
{
	std::ostringstream names;
	flopwatch_reporter lister;
	std::string name;

	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 1;
	flopwatch_open();
	if (flopwatch_now.fd < 0) {
		benchmark::RunSpecifiedBenchmarks();
		return 0;
	}
	lister.SetOutputStream(&names);
	flopwatch_google_set("--benchmark_list_tests=true");
	benchmark::RunSpecifiedBenchmarks(&lister);
	flopwatch_google_set("--benchmark_list_tests=false");
	flopwatch_google_set(FLOPWATCH_GOOGLE_TIME);
	for (std::istringstream lines(names.str()); std::getline(lines, name);)
		flopwatch_google_cell(name);
	return 0;
}

#define FLOPWATCH_MAIN()                                                                                                         \
	int main(int argc, char **argv)                                                                                          \
	{                                                                                                                        \
		return flopwatch_google(argc, argv);                                                                             \
	}

#endif
