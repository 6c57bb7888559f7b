/**
 * ncu_table.h - what `ncu --csv` prints, by the names of its columns: they differ between versions. Pages "raw", a row for each launch, and
 * "details", a row for each metric of a launch.
 */
#ifndef CORE_READING_NCU_TABLE_H
#define CORE_READING_NCU_TABLE_H

#include <stddef.h>

#include "base/err.h"

struct ncu_value {
	int line;           /* of the file, from 1 */
	int launch;         /* place in the file, from 0 */
	const char *kernel; /* demangled as ncu did it; borrowed for the call, like all of this */
	int grid[3], block[3];
	const char *metric, *unit; /* "gpu__time_duration.sum", or "Duration" on page details; "ns", "nsecond", "" */
	double value;
};

/** Take one number. Err: -1 ends the reading. */
typedef int ncu_value_fn(void *arg, const struct ncu_value *v, struct fw_err *err);

/**
 * All numbers, launch by launch. What stands before the table (ncu's own lines, the program's) is passed over; so are cells without a number.
 * Err: ERR_INVALID there is no table, or a row is cut; `file` names the text there.
 */
int ncu_table_each(const char *text, size_t len, const char *file, ncu_value_fn *take, void *arg, struct fw_err *err);

#endif
