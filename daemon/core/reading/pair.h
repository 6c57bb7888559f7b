/**
 * pair.h - two readings that are to be compared: what is no like for like between them.
 *
 * Nothing is compared here. Pure.
 */
#ifndef CORE_READING_PAIR_H
#define CORE_READING_PAIR_H

#include "base/buf.h"
#include "core/reading/reading.h"

/**
 * Of rows that are one cell: take for all of them the best statistic that each of them states. A row of values states their median and their mean.
 * Shape: row[n]. Returns whether there is such a statistic; without one nothing changes.
 */
bool reading_settle(struct reading_row *const *row, int n);

/**
 * Make two readings comparable, and say in `warnings` what keeps them from being so, a sentence a line: conditions that differ (another card, a
 * debug build), statistics that are not the best of the format. Where the files have different numbers of results of one name, or state
 * no statistic in common, rows of both sides are left out (reading_find_unpaired): *unpaired is how many names that were. Own: the readings stay the caller's.
 * Err: out of memory.
 */
int reading_pair(struct reading *base, const char *base_file, struct reading *target, const char *target_file,
	struct buf *warnings, int *unpaired, struct fw_err *err);

#endif
