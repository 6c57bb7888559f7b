/**
 * clocks.h - the clock of the device while a program of its own runs on it, as the driver tells it to a process beside both.
 *
 * It is not that of single calls: what it is good for is that processes which the device ran at different clocks are not taken for different
 * programs. Where nobody can tell, no clock is known, and nothing else changes.
 */
#ifndef WORKER_BENCH_CLOCKS_H
#define WORKER_BENCH_CLOCKS_H

#include "base/lines.h"
#include "worker/bench/runner_child.h"

struct clocks {
	struct proc runner;
	int fd; /* -1: nobody looks */
	struct lines lines;
	bool has_begun;
	double sum_mhz;
	int n;
};

/** Begin to look, and return when looks are taken. `process`: how many of this run came before. Err: cancelled. Own: clocks_end. */
int clocks_begin(struct clocks *c, struct bench *b, int process, struct fw_err *err);
/** Take what was seen by now; to be called several times a second. Shape: arg is a struct clocks. Err: none. */
int clocks_take(void *arg, struct fw_err *err);
/** Stop looking. Returns the mean clock while something computed; 0 unknown. Units: MHz. */
double clocks_end(struct clocks *c);

#endif
