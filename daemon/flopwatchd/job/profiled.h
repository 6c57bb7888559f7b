/**
 * profiled.h - the worker's messages in a job of kind profile: kernels with counters, differences in machine code, effects of
 * configurations. They come from processes that run a branch's code, so each number is checked against the request, each item
 * is accepted once, and the amount is limited.
 */
#ifndef FLOPWATCHD_JOB_PROFILED_H
#define FLOPWATCHD_JOB_PROFILED_H

#include "lib/err.h"
#include "protocol/protocol.h"

/** Limits over all cells: kernels times processes, values, functions. The second set is for a whole suite. */
enum { PROFILED_KERNELS_MAX = 3072, PROFILED_VALUES_MAX = 32768, PROFILED_CODES_MAX = 96 };
enum { PROFILED_SUITE_KERNELS_MAX = 16384, PROFILED_SUITE_VALUES_MAX = 262144, PROFILED_SUITE_CODES_MAX = 1024 };

struct profiled {
	int n_kernels, n_values, n_codes, n_with, n_ends;
	struct msg_kernel *kernel; /* one for each position, process and side */
	struct msg_code **code;
	struct msg_counterfactual *with; /* at most one for each cell */
	struct msg_profile *end;         /* at most one for each cell; a cell without one was not profiled */
};

/**
 * Add a message of one of `n_cells` cells: kernel, code, counterfactual, profile; others are ignored. Own: takes over what `m`
 * owns. Err: ERR_PROTOCOL an unknown cell, a repeated item, a message after the end of its cell; ERR_FULL too much.
 */
int profiled_add(struct profiled *p, struct msg *m, int n_cells, struct fw_err *err);
void profiled_fini(struct profiled *p);

/** NULL: the cell has none. */
const struct msg_profile *profiled_end(const struct profiled *p, int cell);
const struct msg_counterfactual *profiled_with(const struct profiled *p, int cell);

#endif
