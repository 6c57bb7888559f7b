/** runner.h - one run: devices, calls, timing, counters. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"
#include "model/model.h"

/*
 * ---- family_check ----
 * Interface to a family's check of results.
 *
 * NAME/reference/ of a family defines `const struct family_check family_check_NAME`. It computes right results in fp64 from the
 * current inputs, at every position of a small problem and at sampled positions of a large one, and compares any number of
 * results with them.
 */

struct accept_result {
	bool ok;
	double error_ratio; /* largest error over its allowed error; accepted results are <= 1; 1e9 for NaN and Inf */
	int slot;           /* tensor that has it */
	/* "dK[key 17, head 3, 64] is 0.123, should be 0.124 (allowed error 0.0004)"; set for accepted results too */
	char detail[256];
};

/** Location of one cell's tensors. Own: borrows everything. */
struct check_io {
	const struct cell *cell;                 /* of the direction that is checked */
	const void *laid[FAMILY_SLOTS_MAX];      /* host copies of SLOT_LAID slots */
	const void *host[FAMILY_SLOTS_MAX];      /* whole tensor in host memory, or NULL */
	const void *on_device[FAMILY_SLOTS_MAX]; /* device address, or NULL */
	/** Copy elements [first, first + n) of a slot that is not in `host` to `out`. */
	int (*read)(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err);
	/* As in struct device_ops, for slots that are not in `host`; NULL: `read` does it. */
	int (*read_rows)(
		void *arg, int slot, int64_t first, int64_t pitch, int64_t n, int64_t width, void *out, struct fw_err *err);
	int (*find_nonfinite)(void *arg, int slot, int64_t *index, struct fw_err *err);
	int (*find_largest)(void *arg, int slot, float *largest, struct fw_err *err);
	void *arg;
};

/** A computed reference; the family's own type. */
struct expected;

struct family_check {
	/**
	 * Compute the reference of io->cell's direction for these inputs. Sampled positions are drawn from `seed`; `visits`
	 * bounds the products to compute, 0 the default of about a second on two cores. Does not read outputs. Own: close, NULL
	 * after an error; `io` must outlive it.
	 */
	struct expected *(*open)(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err);
	/** Compare the current outputs. Err: -1 only if a tensor cannot be read; a wrong result returns 0 and !result->ok. */
	int (*compare)(struct expected *e, struct accept_result *result, struct fw_err *err);
	void (*close)(struct expected *e);
	const struct family_check
		*on_gpu; /* the same for tensors on a GPU, while it has memory for it; NULL: this one reads them */
};

/** Find a family's check by name; each family has one. */
const struct family_check *family_check_find(const char *name);

/** Read elements of a bf16 or fp32 tensor as floats from host or device. Shape: out[n]. */
int check_read(const struct check_io *io, int slot, int64_t first, size_t n, float *out, struct fw_err *err);
/** Read `n` rows of `width` elements, `pitch` elements apart, as floats. Shape: out[n][width]. */
int check_read_rows(const struct check_io *io, int slot, int64_t first, int64_t pitch, int64_t n, int64_t width, float *out,
	struct fw_err *err);
/** Find the largest magnitude of a whole bf16 tensor. */
int check_find_largest(const struct check_io *io, int slot, float *largest, struct fw_err *err);
/** Find the first NaN or infinite element of an output, -1 if none; reads all of it. */
int check_find_nonfinite(const struct check_io *io, int slot, int64_t *index, struct fw_err *err);

/*
 * ---- values ----
 * A reference as elements with allowed errors, for families that need no more.
 *
 * A family computes spans of consecutive elements; this file reads results, compares, names the worst element by its index, and
 * finds NaN and Inf in all outputs.
 */

struct values;

/** Compute the reference for `io`, as open of struct family_check. */
typedef int values_fn(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

struct expected *values_make(const struct check_io *io, values_fn *compute, uint64_t seed, double visits, struct fw_err *err);
int values_compare(struct expected *e, struct accept_result *result, struct fw_err *err);
void values_free(struct expected *e);

#define VALUES_CHECK(family, compute, on_gpu)                                                                                    \
	static struct expected *open_##family(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)       \
	{                                                                                                                        \
		return values_make(io, compute, seed, visits, err);                                                              \
	}                                                                                                                        \
	const struct family_check family_check_##family = { open_##family, values_compare, values_free, on_gpu }

/** Make element `i` of a slot, which is `x` and should be `exact`, the worst of a result. */
void values_describe(const struct check_io *io, int slot, int64_t i, double x, double exact, double allowed, double ratio,
	struct accept_result *r);

/**
 * Add elements [first, first + n) of a slot; the caller fills in values and allowed errors. Shape: (*exact)[n], (*allowed)[n].
 * Own: the values'. Err: out of memory.
 */
int values_add(struct values *v, int slot, int64_t first, size_t n, double **exact, double **allowed, struct fw_err *err);

/**
 * Add a wrong result for the last span, that of `what` ("another precision"); the caller fills it in. A result nearer to it,
 * over all spans with the same `what`, is wrong even within the allowed error. Spans may overlap.
 * Shape: (*other)[n]. Own: the values'; `what` is borrowed, a pointer that all of these spans share. Err: out of memory.
 */
int values_other(struct values *v, const char *what, double **other, struct fw_err *err);

/** Return sampled row `i` of `n` among `rows`: all rows if n is rows, else random ones, including the first and the last. */
int64_t values_row(uint64_t seed, int i, int n, int64_t rows);
/** Return whether a row is sampled, for code that visits all: about `n` are. */
bool values_is_drawn(uint64_t seed, int64_t row, int n, int64_t rows);

#endif
