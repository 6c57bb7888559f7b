/**
 * values.h - a reference as elements with allowed errors, for families that need no more.
 *
 * A family computes spans of consecutive elements; this file reads results, compares, names the worst element by its index, and
 * finds NaN and Inf in all outputs.
 */
#ifndef RUNNER_VALUES_H
#define RUNNER_VALUES_H

#include "runner/family_check.h"

struct values;

/** Compute the reference for `io`, as open of struct family_check. */
typedef int values_fn(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

struct expected *values_make(const struct check_io *io, values_fn *compute, uint64_t seed, double visits, struct fw_err *err);
int values_compare(struct expected *e, struct accept_result *result, struct fw_err *err);
void values_free(struct expected *e);

#define VALUES_CHECK(family, compute)                                                                                            \
	static struct expected *open_##family(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)       \
	{                                                                                                                        \
		return values_make(io, compute, seed, visits, err);                                                              \
	}                                                                                                                        \
	const struct family_check family_check_##family = { open_##family, values_compare, values_free }

/**
 * Add elements [first, first + n) of a slot; the caller fills in values and allowed errors. Shape: (*exact)[n], (*allowed)[n].
 * Own: the values'. Err: out of memory.
 */
int values_add(struct values *v, int slot, int64_t first, size_t n, double **exact, double **allowed, struct fw_err *err);

/**
 * Add the result of another precision for the last span; the caller fills it in. A result nearer to it, over all such spans, is
 * wrong even within the allowed error. Shape: (*other)[n]. Own: the values'. Err: out of memory.
 */
int values_other(struct values *v, double **other, struct fw_err *err);

/** Return sampled row `i` of `n` among `rows`: all rows if n is rows, else random ones, including the first and the last. */
int64_t values_row(uint64_t seed, int i, int n, int64_t rows);
/** Return whether a row is sampled, for code that visits all: about `n` are. */
bool values_is_drawn(uint64_t seed, int64_t row, int n, int64_t rows);

#endif
