/**
 * family_check.h - what the runner asks of a family about results: are they right?
 *
 * NAME/reference/ of a family defines `const struct family_check family_check_NAME`. What is right is computed in fp64 from the inputs
 * as they are, at every place of a small problem and at sampled places of a large one, and compared with any number of results.
 */
#ifndef RUNNER_REFERENCE_FAMILY_CHECK_H
#define RUNNER_REFERENCE_FAMILY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/case/case.h"

struct accept_result {
	bool ok;
	double error_ratio; /* largest error over its allowed error; accepted results are <= 1; 1e9 for NaN and Inf */
	int slot;           /* tensor that has it */
	char detail
		[256]; /* "dK[key 17, head 3, 64] is 0.123, should be 0.124 (allowed error 0.0004)"; filled for accepted results too */
};

/** Where one cell's tensors are. Own: borrows everything. */
struct check_io {
	const struct cell *cell;                 /* of the direction that is checked */
	const void *laid[FAMILY_SLOTS_MAX];      /* host copies of SLOT_LAID slots */
	const void *host[FAMILY_SLOTS_MAX];      /* whole tensor in host memory, or NULL */
	const void *on_device[FAMILY_SLOTS_MAX]; /* device address, or NULL */
	/** Copy elements [first, first + n) of a slot to `out`, of a tensor that is not in `host`. */
	int (*read)(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err);
	void *arg;
};

/** A reference that was computed; the family's own. */
struct expected;

struct family_check {
	/**
	 * Compute what the direction of io->cell has to give on these inputs. Places that are sampled are drawn from `seed`; `visits`
	 * bounds the products to compute, 0 the default of about a second on two cores. Outputs are not read.
	 * Own: close, NULL after an error. `io` lives as long.
	 */
	struct expected *(*open)(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err);
	/** Compare the outputs as they are now. Err: -1 only when a tensor cannot be read; a wrong result returns 0 and !result->ok. */
	int (*compare)(struct expected *e, struct accept_result *result, struct fw_err *err);
	/** Accepts NULL. */
	void (*close)(struct expected *e);
};

/** Of a family by its name; there is one for each. */
const struct family_check *family_check_find(const char *name);

/** Elements of a bf16 or fp32 tensor as floats, wherever it is. Shape: out[n]. */
int check_read(const struct check_io *io, int slot, int64_t first, size_t n, float *out, struct fw_err *err);
/**
 * Index of the first element of an output that is NaN or infinite, -1 if there is none; reads all of it.
 */
int check_find_nonfinite(const struct check_io *io, int slot, int64_t *index, struct fw_err *err);

#endif
