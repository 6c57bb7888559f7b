/*
 * benchmark.h - Google Benchmark's header, with a BENCHMARK_MAIN that lets flopwatch interleave the benchmarks.
 * SPDX-License-Identifier: MIT-0  (take it into any project, changed or not, without any notice)
 *
 * flopwatch names this folder in CPLUS_INCLUDE_PATH of the builds in its sandbox, so a program that includes the installed Google
 * Benchmark needs no change. Run without flopwatch, the program is unchanged. Folders of -I come first: a copy of Google Benchmark in
 * the repository is used as it is.
 */
#pragma GCC system_header
#include_next <benchmark/benchmark.h>

#ifndef FLOPWATCH_BEFORE_BENCHMARK_H
#define FLOPWATCH_BEFORE_BENCHMARK_H

#include "../../flopwatch_benchmark.h"

#undef BENCHMARK_MAIN
#define BENCHMARK_MAIN() FLOPWATCH_MAIN() static_assert(true, "")

#endif
