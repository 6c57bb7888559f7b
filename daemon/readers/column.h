/** column.h - meaning of a column's name: its series, its unit, or that it holds no times. */
#ifndef READERS_COLUMN_H
#define READERS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

enum { COLUMN_UNIT_SIZE = 32 };

enum column_unit {
	COLUMN_NO_UNIT,
	COLUMN_TIME_OR_RATE, /* known to reading_convert */
	COLUMN_OTHER_UNIT,   /* another unit in brackets: "M (tokens)", "speedup (x)" */
};

/**
 * Split "triton (us)", "triton[us]", "triton, us", "triton_us", "triton time in us" into series and unit. Shape: series[size],
 * unit[COLUMN_UNIT_SIZE]. Without a unit the series is the name.
 */
enum column_unit column_split(const char *name, char *series, size_t size, char unit[COLUMN_UNIT_SIZE]);
/** Return whether column_split gives COLUMN_TIME_OR_RATE and the unit is in brackets. */
bool column_has_brackets(const char *name);
/** Return the word that marks a comparison of times: ratio, speedup, stddev. NULL none. Own: static. */
const char *column_compares(const char *name);
/**
 * Return such a word, or one of counts and shares: calls, instances, percentage. Words of `unit` (of all columns; "" none) do
 * not count.
 */
const char *column_counts(const char *name, const char *unit);
/** Return whether a name is a size: M, seqlen, head_dim. */
bool column_is_size(const char *name);
/** Return whether a name is an implementation: triton, torch, cublas. */
bool column_is_subject(const char *name);
/** Return whether a name has a word of profilers and similar tools, whose tables are no triton reports. */
bool column_is_statistic(const char *name);

#endif
