/**
 * cpu.h - properties of the machine that CPU providers need: its instruction sets, and the number of threads.
 */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include <omp.h>
#include <stdbool.h>
#include <string.h>

enum { CPU_THREADS_MAX = 1024 };

/** Whether this machine can run code that was compiled for "v4", "v3" (x86-64 levels) or "base". */
static inline bool cpu_has(const char *isa)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (strcmp(isa, "v4") == 0)
		return __builtin_cpu_supports("x86-64-v4") != 0;
	if (strcmp(isa, "v3") == 0)
		return __builtin_cpu_supports("x86-64-v3") != 0;
#endif
	return strcmp(isa, "base") == 0;
}

/** Number of threads for a plan's `index`: all available ones for 0. */
static inline int cpu_threads(int index)
{
	const int n = index > 0 ? index : omp_get_max_threads();
	return n > CPU_THREADS_MAX ? CPU_THREADS_MAX : n;
}

#endif
