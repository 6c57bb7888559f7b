/**
 * values.h - a reference made of elements with what each may be off by, for families that need no more than that.
 *
 * A family computes spans of consecutive elements; the rest is here: reading results, comparing, naming the worst element by its
 * index, and looking for NaN and Inf in all that was written.
 */
#ifndef RUNNER_REFERENCE_VALUES_H
#define RUNNER_REFERENCE_VALUES_H

#include "runner/reference/family_check.h"

struct values;

/** Compute what `io` leads to, as struct family_check says of open. */
typedef int values_fn(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

/** A family's open, compare and close. */
struct expected *values_make(const struct check_io *io, values_fn *compute, uint64_t seed, double visits, struct fw_err *err);
int values_compare(struct expected *e, struct accept_result *result, struct fw_err *err);
void values_free(struct expected *e);

/** The whole family_check of a family by its values_fn. */
#define VALUES_CHECK(family, compute)                                                                                            \
	static struct expected *open_##family(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)       \
	{                                                                                                                        \
		return values_make(io, compute, seed, visits, err);                                                              \
	}                                                                                                                        \
	const struct family_check family_check_##family = { open_##family, values_compare, values_free }

/**
 * Room for elements [first, first + n) of a slot, to be filled: what they are, and how far from it they may lie. Shape: (*exact)[n],
 * (*allowed)[n]. Own: the values'. Err: no memory.
 */
int values_add(struct values *v, int slot, int64_t first, size_t n, double **exact, double **allowed, struct fw_err *err);

/**
 * Room for what another precision gives in the span that was added last, to be filled. A result that lies nearer to it, in all such
 * spans together, is wrong, however little it is off. Shape: (*other)[n]. Own: the values'. Err: no memory.
 */
int values_other(struct values *v, double **other, struct fw_err *err);

/** Row `i` of `n` that are looked at among `rows`: all of them when n is rows, else drawn, the first and the last among them. */
int64_t values_row(uint64_t seed, int i, int n, int64_t rows);
/** The same asked of a row, by those who have to walk over all: about `n` of them say yes. */
bool values_is_drawn(uint64_t seed, int64_t row, int n, int64_t rows);

#endif
