/**
 * ncu_source.h - warp stalls as printed by `ncu --csv --page source --section SourceCounters`: for each launch its kernel's
 * name, a header, and a row for each instruction.
 */
#ifndef READERS_NCU_SOURCE_H
#define READERS_NCU_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct ncu_stall {
	int launch;      /* position in the file, from 0 */
	uint32_t offset; /* bytes from the kernel's first instruction */
	int samples;
	const char *reason; /* main reason, by a counter's name; "other": a reason without its own column */
	int of_reason;
};

/** Take one sampled instruction. Err: -1 stops. */
typedef int ncu_stall_fn(void *arg, const struct ncu_stall *s, struct fw_err *err);

/**
 * Visit all of them, in the order of the file; other lines are skipped. Sets `launches`. Err: ERR_INVALID there is no table of
 * samples.
 */
int ncu_source_each(
	const char *text, size_t len, const char *file, ncu_stall_fn *take, void *arg, int *launches, struct fw_err *err);

#endif
