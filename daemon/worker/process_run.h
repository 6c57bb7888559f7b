/**
 * process_run.h - one process that times both sides call by call over some cells; its timings are stored, judged and sent.
 *
 * A run that dies fails the cell it died in, after one check of each side alone has shown which side is at fault.
 */
#ifndef WORKER_PROCESS_RUN_H
#define WORKER_PROCESS_RUN_H

#include "worker/runner_child.h"

/** Cells of a run and how they run. Shape: cell[n], sustained_run[n]. */
struct run_order {
	int n, set;
	const int *cell;
	const bool *sustained_run; /* cells that have sustained runs too; NULL: none */
	bool only_sustained_runs;
};

/** Run it. Returns 1 with results, 0 without, -1 on error. `why` receives the last reason for no result. Shape: why[size]. */
int measure_process_run(struct bench *b, const struct run_order *o, char *why, size_t size, struct fw_err *err);

/**
 * Return whether another side than the one that the runner names may have caused a failure: it names none, or the base, which
 * passed its check.
 */
bool run_suspects(const struct msg_fault *f);
/**
 * Find the side behind a failure of cell f->cell by one check of each side alone, and send the fault. Returns 0, or -1 on
 * error.
 */
int run_blame(struct bench *b, const struct msg_fault *f, bool was_lost, struct fw_err *err);
/**
 * Handle a process of both sides that ended in the base's call, or by a signal from outside: the target shares the process and
 * may have raised the signal. The control run of the base against its copy decides (control.h). Two such ends make a fault, so
 * that neither a base with rare crashes nor a single kill by another process accuses the target. Returns 0, or -1 on error.
 */
int run_blame_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err);

/**
 * Count a discarded run of this cell, for `reason`. After the third the cell gets no more runs; without any run it is
 * unmeasured.
 */
int run_void(struct bench *b, int cell, const char *reason, struct fw_err *err);

#endif
