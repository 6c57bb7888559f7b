/**
 * keys.h - reference values of planned keys, on the host.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_KEYS_H
#define FAMILIES_ATTENTION_REFERENCE_KEYS_H

#include "families/attention/reference.h"

/** Fill tensors 1 and 2 (DK, DV) of `out`. Err: -1 out of memory, or a tensor that cannot be read. */
int reference_keys_compute(
	const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err);

#endif
