/** ffa_compare.h - two profiles of MagiAttention's profile_ffa side by side, in the format of its compare_*.csv. Pure. */
#ifndef READERS_FFA_COMPARE_H
#define READERS_FFA_COMPARE_H

#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"

struct ffa_file {
	const char *text, *name;
	size_t len;
};

/**
 * Write each common row, with every result of base and target and its change in percent: a longer time is positive, a lower
 * throughput negative; empty if a side has none. Rows are matched by their inputs, and by kernel settings if only those
 * distinguish two rows of a file. `rows` receives the number. Err: ERR_INVALID with file and line.
 */
int ffa_compare(const struct ffa_file *base, const struct ffa_file *target, struct buf *out, int *rows, struct fw_err *err);

#endif
