/**
 * profiled.h - what a worker says in a job of kind profile: kernels with their counters, what differs in machine code, what a
 * configuration does. It comes out of processes that run a branch's code, so each number is checked against what was asked, each thing is
 * told once, and there is an end to how much is kept.
 */
#ifndef FLOPWATCHD_JOB_PROFILED_H
#define FLOPWATCHD_JOB_PROFILED_H

#include "base/err.h"
#include "core/protocol/protocol.h"

/** Of all cells together: kernels times processes, values of all of them, functions that differ; and the same of every cell of a suite. */
enum { PROFILED_KERNELS_MAX = 3072, PROFILED_VALUES_MAX = 32768, PROFILED_CODES_MAX = 96 };
enum { PROFILED_SUITE_KERNELS_MAX = 16384, PROFILED_SUITE_VALUES_MAX = 262144, PROFILED_SUITE_CODES_MAX = 1024 };

struct profiled {
	int n_kernels, n_values, n_codes, n_with, n_ends;
	struct msg_kernel *kernel; /* each place of each process of each side once */
	struct msg_code **code;
	struct msg_counterfactual *with; /* at most one a cell */
	struct msg_profile *end;         /* likewise; a cell without one was not profiled */
};

/**
 * Take in a line of one of `n_cells` cells: kernel, code, counterfactual, profile; others are ignored. Own: takes over what `m` owns.
 * Err: ERR_PROTOCOL a cell that the job does not have, a thing that was told already, a line of a cell that has ended; ERR_FULL too much.
 */
int profiled_add(struct profiled *p, struct msg *m, int n_cells, struct fw_err *err);
/** Zeros are fine. */
void profiled_fini(struct profiled *p);

/** NULL: that cell has none. */
const struct msg_profile *profiled_end(const struct profiled *p, int cell);
const struct msg_counterfactual *profiled_with(const struct profiled *p, int cell);

#endif
