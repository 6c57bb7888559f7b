/**
 * family_check.h - interface to a family's check of results.
 *
 * NAME/reference/ of a family defines `const struct family_check family_check_NAME`. It computes right results in fp64 from the
 * current inputs, at every position of a small problem and at sampled positions of a large one, and compares any number of
 * results with them.
 */
#ifndef RUNNER_FAMILY_CHECK_H
#define RUNNER_FAMILY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/case.h"

struct accept_result {
	bool ok;
	double error_ratio; /* largest error over its allowed error; accepted results are <= 1; 1e9 for NaN and Inf */
	int slot;           /* tensor that has it */
	char detail
		[256]; /* "dK[key 17, head 3, 64] is 0.123, should be 0.124 (allowed error 0.0004)"; set for accepted results too */
};

/** Location of one cell's tensors. Own: borrows everything. */
struct check_io {
	const struct cell *cell;                 /* of the direction that is checked */
	const void *laid[FAMILY_SLOTS_MAX];      /* host copies of SLOT_LAID slots */
	const void *host[FAMILY_SLOTS_MAX];      /* whole tensor in host memory, or NULL */
	const void *on_device[FAMILY_SLOTS_MAX]; /* device address, or NULL */
	/** Copy elements [first, first + n) of a slot that is not in `host` to `out`. */
	int (*read)(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err);
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
};

/** Find a family's check by name; each family has one. */
const struct family_check *family_check_find(const char *name);

/** Read elements of a bf16 or fp32 tensor as floats from host or device. Shape: out[n]. */
int check_read(const struct check_io *io, int slot, int64_t first, size_t n, float *out, struct fw_err *err);
/** Find the first NaN or infinite element of an output, -1 if none; reads all of it. */
int check_find_nonfinite(const struct check_io *io, int slot, int64_t *index, struct fw_err *err);

#endif
