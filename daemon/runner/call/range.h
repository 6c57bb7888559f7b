/**
 * range.h - names parts of a run for profilers, by NVTX where CUDA is built in with its headers, else nothing.
 *
 * All ranges are in domain "flopwatch". A cell's range is called by its key, a registered string, so that tools can be told to look at it alone
 * (`nsys -c nvtx -p 'KEY@flopwatch'`, `ncu --nvtx --nvtx-include 'flopwatch@KEY/'`, where each / of the key is written \/); its category
 * is the subject, its payload says which call it is. Within it a phase has a range of its own, of category "phase". Without a profiler a range
 * costs a few nanoseconds.
 */
#ifndef RUNNER_CALL_RANGE_H
#define RUNNER_CALL_RANGE_H

#include <stdint.h>

#include "core/state/role.h"

/** One call. The payload of its range are `run`, `pass`, `call` and `seed`. */
struct range_call {
	const char *cell; /* key */
	enum role role;
	uint32_t process_run, pass; /* pass 0: calls that warm up */
	uint32_t call;
	uint64_t seed;
};

void range_cell(const struct range_call *call);
/** Within a cell's, or a call that is none of a cell's: "warm". */
void range_phase(const char *phase);
/** Ends the innermost. */
void range_end(void);

#endif
