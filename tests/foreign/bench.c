/*
 * A small benchmark program without flopwatch: sums over a table in memory, timed by CPU time, written as Google Benchmark's
 * JSON. WORK in work.h is the number of repetitions of each sum; CPU_SHARE scales the cpu_time that is written next to the real
 * time.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "work.h"
#ifndef EXTRA
#define EXTRA "" /* rows before all others */
#endif
#ifndef CPU_SHARE
#define CPU_SHARE 1
#endif

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint32_t table[1 << 14];
static volatile uint32_t sink;

static double sum_ms(int n, int work)
{
	double began = cpu_ms();
	for (int w = 0; w < work; w++) {
		uint32_t sum = (uint32_t)w;
		for (int i = 0; i < n; i++)
			sum = sum * 31 + table[i];
		sink = sum;
	}
	return cpu_ms() - began;
}

int main(int argc, char **argv)
{
	FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;
	static const int sizes[] = { 1 << 12, 1 << 14 };

	if (!out)
		return 1;
	sum_ms(1 << 14, 20); /* touch the memory for the first time outside the timed region */
	fprintf(out, "{\"context\":{},\"benchmarks\":[" EXTRA);
	for (int s = 0, first = 1; s < 2; s++)
		for (int repetition = 0; repetition < 5; repetition++, first = 0) {
			double ms = sum_ms(sizes[s], WORK * (1 << 14) / sizes[s]);

			fprintf(out,
				"%s{\"name\":\"sum/%d\",\"run_type\":\"iteration\",\"repetition_index\":%d,\"real_time\":%.9g,\"cpu_time\":%.9g,"
				"\"time_unit\":\"ms\"}",
				first ? "" : ",", sizes[s], repetition, ms, ms * CPU_SHARE);
		}
	fprintf(out, "]}\n");
	return fclose(out) != 0;
}
