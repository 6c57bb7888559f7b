/**
 * rows.h - reference values of planned rows, on the host.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_ROWS_H
#define FAMILIES_ATTENTION_REFERENCE_ROWS_H

#include "families/attention/reference.h"

/** Fill tensor 0 (O or DQ) and, forward, tensor 1 (LSE) of `out`. Err: -1 out of memory, or a tensor that cannot be read. */
int reference_rows_compute(
	const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err);

#endif
