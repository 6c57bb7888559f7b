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

#include <set>
#include <sstream>
#include <string>
#include <vector>

/*
 * flopwatch needs many short runs, and a benchmark's own MinTime would make each of them long. So it is stored when the benchmark
 * is registered, and replaced for each run: include this file above the benchmarks. It is a part of the benchmark's name, of which
 * the cell has the original.
 */
struct flopwatch_google_time {
	benchmark::internal::Benchmark *benchmark;
	double seconds; /* the original */
	void (*set)(benchmark::internal::Benchmark *b, double seconds);
};

/* Shared by all files of the program. */
inline std::vector<flopwatch_google_time> &flopwatch_google_times(void)
{
	static std::vector<flopwatch_google_time> times;

	return times;
}

/* Of the call of MinTime or MinWarmUpTime that is being evaluated. */
inline double &flopwatch_google_seconds(int is_warm_up)
{
	static double seconds[2];

	return seconds[is_warm_up];
}

static inline auto flopwatch_google_note(int is_warm_up, double seconds, void (*store)(benchmark::internal::Benchmark *b))
	-> decltype(store)
{
	flopwatch_google_seconds(is_warm_up) = seconds;
	return store;
}

static inline void flopwatch_google_store(const flopwatch_google_time &time)
{
	time.set(time.benchmark, time.seconds);
	if (getenv("FLOPWATCH_INTERLEAVE"))
		flopwatch_google_times().push_back(time);
}

/* Templates, since releases before 1.7.1 have no MinWarmUpTime. */
template <class B> static void flopwatch_google_set_min_time(B *b, double seconds)
{
	b->MinTime(seconds);
}
template <class B> static void flopwatch_google_set_warm_up(B *b, double seconds)
{
	b->MinWarmUpTime(seconds);
}
template <class B> static void flopwatch_google_store_min_time(B *b)
{
	flopwatch_google_store({ b, flopwatch_google_seconds(0), flopwatch_google_set_min_time<B> });
}
template <class B> static void flopwatch_google_store_warm_up(B *b)
{
	flopwatch_google_store({ b, flopwatch_google_seconds(1), flopwatch_google_set_warm_up<B> });
}

/* Aggregates have no number of iterations, so flopwatch gets each repetition. */
static inline bool flopwatch_google_aggregates(bool value = true)
{
	return value && !getenv("FLOPWATCH_INTERLEAVE");
}

#define FLOPWATCH_GOOGLE_STORE(is_warm_up, seconds, store)                                                                       \
	Apply(flopwatch_google_note(is_warm_up, seconds, store<benchmark::internal::Benchmark>))
#define MinTime(seconds)           FLOPWATCH_GOOGLE_STORE(0, seconds, flopwatch_google_store_min_time)
#define MinWarmUpTime(seconds)     FLOPWATCH_GOOGLE_STORE(1, seconds, flopwatch_google_store_warm_up)
#define ReportAggregatesOnly(...)  ReportAggregatesOnly(flopwatch_google_aggregates(__VA_ARGS__))
#define DisplayAggregatesOnly(...) DisplayAggregatesOnly(flopwatch_google_aggregates(__VA_ARGS__))

/* Stores the mean time of an iteration over all repetitions, or the reason why there is none, whose field differs between releases. */
class flopwatch_reporter : public benchmark::BenchmarkReporter
{
      public:
	double ms = 0, real_s = 0, cpu_s = 0; /* of all iterations; of an iteration in ms */
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
			if (why.empty())
				why = problem(run, 0);
			iterations += (long)run.iterations;
			real_s += run.real_accumulated_time;
			cpu_s += run.cpu_accumulated_time;
		}
		ms = why.empty() && iterations > 0 ? real_s * 1e3 / (double)iterations : 0;
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

/* Lengths of a run of which one call is made, also if it is short, and of other runs. Units: s. */
static const double flopwatch_google_single = 1e-9, flopwatch_google_short = 0.0005;

/* A longer setup of a call is costly. Unit: s. */
static const double flopwatch_google_setup = 0.002;

/* MinTime of benchmark `i` while it is not measured, which identifies it in a name. */
static inline double flopwatch_google_mark(size_t i)
{
	return 1000 + (double)i;
}

/* As it is written in a name. */
static inline std::string flopwatch_google_text(double seconds)
{
	char text[64];

	snprintf(text, sizeof(text), "_time:%0.3f", seconds);
	return text;
}

/* Replace the marks in a name by `seconds`, or by the original times if it is 0. */
static inline std::string flopwatch_google_name(std::string name, double seconds)
{
	const std::vector<flopwatch_google_time> &times = flopwatch_google_times();

	for (size_t i = 0; i < times.size(); i++) {
		std::string mark = flopwatch_google_text(flopwatch_google_mark(i));
		size_t at = name.find(mark);

		if (at != std::string::npos)
			name.replace(at, mark.size(), flopwatch_google_text(seconds > 0 ? seconds : times[i].seconds));
	}
	return name;
}

/* Set the times of the benchmark with a name that has marks, and marks as those of all others. */
static inline void flopwatch_google_set_times(const std::string &name, double seconds)
{
	const std::vector<flopwatch_google_time> &times = flopwatch_google_times();

	for (size_t i = 0; i < times.size(); i++)
		times[i].set(times[i].benchmark, flopwatch_google_mark(i));
	for (size_t i = 0; i < times.size(); i++)
		if (name.find(flopwatch_google_text(flopwatch_google_mark(i))) != std::string::npos)
			times[i].set(times[i].benchmark, seconds);
	char option[64];

	snprintf(option, sizeof(option), "--benchmark_min_time=%.9f", seconds);
	flopwatch_google_set(option);
}

/*
 * Subtract the time for which the thread waited for a processor during the iterations: the part of their time in which it did not
 * compute, at most as long as the system reports that it waited. Interruptions before or after the iterations do not count.
 */
static inline void flopwatch_google_subtract_waits(struct flopwatch_run *r, flopwatch_reporter *reporter)
{
	double waited_s = (double)(flopwatch_waited_ns() - r->waited_ns) * 1e-9, idle_s = reporter->real_s - reporter->cpu_s;
	double off_s = idle_s < waited_s ? idle_s : waited_s;

	if (off_s > 0 && off_s < reporter->real_s)
		reporter->ms *= 1 - off_s / reporter->real_s;
	if (fabs(idle_s) < 0.01 * reporter->real_s) {
		r->waited_ns = flopwatch_waited_ns();
		r->switches = flopwatch_switches(r);
	}
}

/*
 * MinTime of the next call. Iterations that warm up precede those that count, so one more is enough. Google Benchmark repeats the
 * whole benchmark with its setup until it finds the number of iterations; with a costly setup, the second attempt is the last one:
 * its iterations take longer than this time, of which the first attempt's single one takes an eighth.
 */
static inline double flopwatch_google_needed(const struct flopwatch_run *r, bool is_setup_costly, double iteration_s)
{
	if (r->is_single || r->warm > 0)
		return flopwatch_google_single;
	return is_setup_costly ? fmin(flopwatch_google_short, fmax(flopwatch_google_single, 8 * iteration_s))
			       : flopwatch_google_short;
}

/* One benchmark, by its name with marks, as a cell: every call is one short run of it. */
static inline void flopwatch_google_cell(const std::string &name)
{
	struct flopwatch_run r = flopwatch_begin(flopwatch_google_name(name, 0).c_str(), 0, 0);
	double seconds = 0, iteration_s = 0;
	bool is_setup_costly = false;
	std::string pattern;

	while (flopwatch_call(&r)) {
		flopwatch_reporter reporter;
		double needed = flopwatch_google_needed(&r, is_setup_costly, iteration_s);

		if (r.warm > 0 && is_setup_costly) { /* the first attempt of the call warms up */
			flopwatch_done(&r);
			continue;
		}

		if (needed != seconds) {
			seconds = needed;
			flopwatch_google_set_times(name, seconds);
			pattern = "^";
			for (char c : flopwatch_google_name(name, seconds))
				pattern += strchr(".^$*+?()[]{}|\\", c) ? std::string("\\") + c : std::string(1, c);
			pattern += "$";
		}
		int64_t begun_ns = flopwatch_ns();

		benchmark::RunSpecifiedBenchmarks(&reporter, pattern);
		if (r.warm == 0 && reporter.iterations > 0) {
			double setup_s = (double)(flopwatch_ns() - begun_ns) * 1e-9 - reporter.real_s;

			is_setup_costly = setup_s > flopwatch_google_setup && setup_s > reporter.real_s;
			iteration_s = reporter.real_s / (double)reporter.iterations;
		}
		if (r.warm == 0)
			flopwatch_google_subtract_waits(&r, &reporter);
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
}

/* Under flopwatch each run is short, and its options are those below; otherwise the program is unchanged. */
static inline int flopwatch_google(int argc, char **argv)
{
	static const char *const options[] = { "--benchmark_out=", "--benchmark_repetitions=1",
		"--benchmark_report_aggregates_only=false", "--benchmark_display_aggregates_only=false",
		"--benchmark_list_tests=true" };
	std::ostringstream names;
	std::set<std::string> seen;
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
	for (const char *option : options)
		flopwatch_google_set(option);
	flopwatch_google_set_times("", flopwatch_google_short);
	lister.SetOutputStream(&names);
	benchmark::RunSpecifiedBenchmarks(&lister);
	flopwatch_google_set("--benchmark_list_tests=false");
	for (std::istringstream lines(names.str()); std::getline(lines, name);)
		if (seen.insert(name).second) /* equal arguments of a benchmark are measured together */
			flopwatch_google_cell(name);
	return 0;
}

#define FLOPWATCH_MAIN()                                                                                                         \
	int main(int argc, char **argv)                                                                                          \
	{                                                                                                                        \
		return flopwatch_google(argc, argv);                                                                             \
	}

#endif
