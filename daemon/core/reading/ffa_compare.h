/** ffa_compare.h - two profiles of MagiAttention's profile_ffa beside each other, as its compare_*.csv. Pure. */
#ifndef CORE_READING_FFA_COMPARE_H
#define CORE_READING_FFA_COMPARE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/** A file's text and its name in messages. */
struct ffa_file {
	const char *text, *name;
	size_t len;
};

/**
 * Write each row that both have, with every figure of base and target and the change of the figure in percent: a longer time is positive,
 * a lower throughput negative; empty where a side has none. Rows are matched by what was asked for, and by settings of the
 * kernel where they alone tell two rows of a file apart. `rows` gets how many were written. Err: ERR_INVALID with file and line.
 */
int ffa_compare(const struct ffa_file *base, const struct ffa_file *target, struct buf *out, int *rows, struct fw_err *err);

#endif
