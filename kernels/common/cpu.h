/**
 * cpu.h - what CPU providers ask of the machine: which instruction sets it has, and how many threads may run.
 */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include <omp.h>
#include <stdbool.h>
#include <string.h>

enum { CPU_THREADS_MAX = 1024 };

/** Whether this machine runs what was compiled for "v4", "v3" (of x86-64) or "base". */
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

/** Threads of a plan's `index`: all there are for 0. */
static inline int cpu_threads(int index)
{
	const int n = index > 0 ? index : omp_get_max_threads();
	return n > CPU_THREADS_MAX ? CPU_THREADS_MAX : n;
}

#endif
