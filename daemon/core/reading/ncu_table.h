/**
 * ncu_table.h - what `ncu --csv` prints, by the names of its columns: they differ between versions. Pages "raw", a row for each launch, and
 * "details", a row for each metric of a launch.
 */
#ifndef CORE_READING_NCU_TABLE_H
#define CORE_READING_NCU_TABLE_H

#include <stddef.h>

#include "base/err.h"
#include "core/reading/marks.h"
#include "core/reading/row.h"

struct ncu_value {
	int line;                                    /* of the file, from 1 */
	int launch;                                  /* place in the file, from 0 */
	const char *kernel;                          /* demangled as ncu did it; borrowed for the call, like all of this */
	const char *id, *process, *context, *device; /* as the file writes them; "" it does not */
	const char *grid_text, *block_text;          /* "(132, 1, 1)" */
	int grid[3], block[3];
	const char *metric, *unit; /* "gpu__time_duration.sum", or "Duration" on page details; "ns", "nsecond", "" */
	const char *cell;          /* as the file writes the value */
	enum marks_kind kind;
	double value; /* of MARKS_NUMBER */
};

/** Take one value, also one that is no number. Err: -1 ends the reading. */
typedef int ncu_value_fn(void *arg, const struct ncu_value *v, struct fw_err *err);

/**
 * All values of metrics, launch by launch. Lines that are no rows (ncu's own, the program's) are passed over wherever they stand; rows end early where
 * a version writes them so. `decimal` is the mark of decimals, 0: the file as a whole shows it (marks.h). `out` gets what was left out, may be NULL.
 * Err: ERR_INVALID there is no table, its last row is cut, or its numbers have both marks; `file` names the text there.
 */
int ncu_table_each(const char *text, size_t len, const char *file, char decimal, struct reading *out, ncu_value_fn *take,
	void *arg, struct fw_err *err);

#endif
