/**
 * ncu_source.h - where warps wait, as `ncu --csv --page source --section SourceCounters` prints it: for each launch its kernel's name, a header,
 * and a row for each instruction.
 */
#ifndef CORE_READING_NCU_SOURCE_H
#define CORE_READING_NCU_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ncu_stall {
	int launch;      /* place in the file, from 0 */
	uint32_t offset; /* bytes from the kernel's first instruction */
	int samples;
	const char *
		reason; /* what most of them waited for, by the name of a counter; "other": a reason that has no column of its own */
	int of_reason;
};

/** Take one instruction at which warps were seen. Err: -1 ends the reading. */
typedef int ncu_stall_fn(void *arg, const struct ncu_stall *s, struct fw_err *err);

/** All of them, in the order of the file; what is no row of a table is passed over. Sets `launches`. Err: ERR_INVALID there is no table of samples. */
int ncu_source_each(
	const char *text, size_t len, const char *file, ncu_stall_fn *take, void *arg, int *launches, struct fw_err *err);

#endif
