/**
 * clocks.h - the device's clock while a benchmark program runs, read from the driver by a separate process.
 *
 * It is no clock of single calls. It keeps processes that ran at different clocks from being taken for different programs.
 * Where no driver reports a clock it is unknown, and nothing else changes.
 */
#ifndef WORKER_CLOCKS_H
#define WORKER_CLOCKS_H

#include "lib/lines.h"
#include "worker/runner_child.h"

struct clocks {
	struct proc runner;
	int fd; /* -1: no sampling */
	struct lines lines;
	bool has_begun;
	double sum_mhz;
	int n;
};

/** Start sampling; return when samples arrive. `process`: earlier processes of this run. Err: cancelled. Own: clocks_end. */
int clocks_begin(struct clocks *c, struct bench *b, int process, struct fw_err *err);
/** Read the samples so far; call several times a second. Shape: arg is a struct clocks. Err: none. */
int clocks_take(void *arg, struct fw_err *err);
/** Stop sampling. Returns the mean clock under load; 0 unknown. Units: MHz. */
double clocks_end(struct clocks *c);

#endif
