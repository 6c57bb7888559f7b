/**
 * process_run.h - one process in which both sides are timed, call by call, over some cells: its timings are kept, judged and passed on.
 *
 * A run that dies costs the cell it died in, after one check of each side alone has shown whose fault it was.
 */
#ifndef WORKER_BENCH_PROCESS_RUN_H
#define WORKER_BENCH_PROCESS_RUN_H

#include "worker/bench/runner_child.h"

/** Which cells, and how. Shape: cell[n], sustained run[n]. */
struct run_order {
	int n, set;
	const int *cell;
	const bool *sustained_run; /* cells that run in sustained runs, too; NULL: none */
	bool only_sustained_runs;
};

/** Run it. 1 it brought something, 0 nothing, -1 error. `why` keeps the last reason for nothing. Shape: why[size]. */
int measure_process_run(struct bench *b, const struct run_order *o, char *why, size_t size, struct fw_err *err);

/**
 * Whether a failure of a cell, which the runner reports from a process of both sides, may be that of another side than it names: it names
 * none, or the base, which passed its check.
 */
bool run_suspects(const struct msg_fault *f);
/** Such a failure of cell f->cell: one check of each side alone shows whose it is. Sends the fault. 0, -1 error. */
int run_blame(struct bench *b, const struct msg_fault *f, bool was_lost, struct fw_err *err);
/**
 * A process of both sides ended in the base's call of a cell, or at a signal from outside: the target may have raised that, who shares the process. The
 * base beside a copy of itself tells (control.h); so that a base which crashes now and then accuses nobody, and neither does a process on the
 * machine that ended a runner once, two such ends make a fault. 0, -1 error.
 */
int run_blame_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err);

/**
 * A run of this cell was void, for `reason`. After the third the cell is given up: what it has is all it gets, and one that has
 * nothing is unmeasured.
 */
int run_void(struct bench *b, int cell, const char *reason, struct fw_err *err);

#endif
