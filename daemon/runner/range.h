/**
 * range.h - names of parts of a run for profilers, by NVTX if built with its headers, else nothing.
 *
 * All ranges are in domain "flopwatch". A cell's range has its key as registered string, so tools can select it (`nsys -c nvtx
 * -p 'KEY@flopwatch'`, `ncu --nvtx --nvtx-include 'flopwatch@KEY/'`, where each / of the key is written \/). Its category is
 * the subject, its payload identifies the call. A phase has a nested range of category "phase". Without a profiler a range
 * takes a few nanoseconds.
 */
#ifndef RUNNER_RANGE_H
#define RUNNER_RANGE_H

#include <stdint.h>

#include "model/role.h"

/** One call. The range's payload is `run`, `pass`, `call` and `seed`. */
struct range_call {
	const char *cell; /* key */
	enum role role;
	uint32_t process_run, pass; /* pass 0: warm-up calls */
	uint32_t call;
	uint64_t seed;
};

void range_cell(const struct range_call *call);
/** Begin a nested range, or one outside of a cell: "warm". */
void range_phase(const char *phase);
/** End the innermost range. */
void range_end(void);

#endif
