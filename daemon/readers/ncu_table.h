/**
 * ncu_table.h - output of `ncu --csv`, by column names: they differ between versions. Pages "raw", a row for each launch, and
 * "details", a row for each metric of a launch.
 */
#ifndef READERS_NCU_TABLE_H
#define READERS_NCU_TABLE_H

#include <stddef.h>

#include "lib/err.h"
#include "readers/marks.h"
#include "readers/row.h"

struct ncu_value {
	int line;                                    /* of the file, from 1 */
	int launch;                                  /* position in the file, from 0 */
	const char *kernel;                          /* demangled by ncu; borrowed for the call, like all members */
	const char *id, *process, *context, *device; /* as in the file; "" missing */
	const char *grid_text, *block_text;          /* "(132, 1, 1)" */
	int grid[3], block[3];
	const char *metric, *unit; /* "gpu__time_duration.sum", or "Duration" on page details; "ns", "nsecond", "" */
	const char *cell;          /* the value's text */
	enum marks_kind kind;
	double value; /* of MARKS_NUMBER */
};

/** Take one value, also one that is no number. Err: -1 stops. */
typedef int ncu_value_fn(void *arg, const struct ncu_value *v, struct fw_err *err);

/**
 * Visit all values of metrics, launch by launch. Other lines (ncu's own, the program's) are skipped anywhere; rows may end
 * early in some versions. `decimal` is the decimal mark, 0: inferred from the file (marks.h). `out` receives notes on lost
 * rows, may be NULL. Err: ERR_INVALID there is no table, its last row is cut, or its numbers have both marks; `file` names the
 * text there.
 */
int ncu_table_each(const char *text, size_t len, const char *file, char decimal, struct reading *out, ncu_value_fn *take,
	void *arg, struct fw_err *err);

#endif
