/** column.h - what the name of a column of a table says: whose figures it holds, in which unit, or that they are no times at all. */
#ifndef CORE_READING_COLUMN_H
#define CORE_READING_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

enum { COLUMN_UNIT_SIZE = 32 };

enum column_unit {
	COLUMN_NO_UNIT,
	COLUMN_TIME_OR_RATE, /* that reading_convert knows */
	COLUMN_OTHER_UNIT,   /* in brackets, and none of those: "M (tokens)", "speedup (x)" */
};

/**
 * Split "triton (us)", "triton[us]", "triton, us", "triton_us", "triton time in us" into series and unit. Shape: series[size],
 * unit[COLUMN_UNIT_SIZE]. Without a unit the series is the name.
 */
enum column_unit column_split(const char *name, char *series, size_t size, char unit[COLUMN_UNIT_SIZE]);
/** As column_split says COLUMN_TIME_OR_RATE, and the unit stands in brackets. */
bool column_has_brackets(const char *name);
/** The word by which a name says that its figures compare times and are none: ratio, speedup, stddev. NULL none. Own: static. */
const char *column_compares(const char *name);
/** The same, and words of counts and shares: calls, instances, percentage. What `unit` (of all columns; "" none) is said by is no such word. */
const char *column_counts(const char *name, const char *unit);
/** Whether a name is that of a size: M, seqlen, head_dim. */
bool column_is_size(const char *name);
/** Whether a name is that of what is measured: triton, torch, cublas. */
bool column_is_subject(const char *name);
/** Whether a name has one of these words of profilers and other tools, whose tables are no reports of triton. */
bool column_is_statistic(const char *name);

#endif
