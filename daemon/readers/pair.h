/** pair.h - preparation of two readings for a comparison. Compares nothing. Pure. */
#ifndef READERS_PAIR_H
#define READERS_PAIR_H

#include "lib/buf.h"
#include "readers/reading.h"

/**
 * Give all rows of one cell the best statistic that each of them has. A row of values has their median and their mean. Shape:
 * row[n]. Returns whether there is such a statistic; without one nothing changes.
 */
bool reading_settle(struct reading_row *const *row, int n);

/**
 * Make two readings comparable; `warnings` receives each obstacle, a sentence a line: conditions that differ (another card, a
 * debug build), statistics that are not the best of the format. If the files have different numbers of results of one name, or
 * no statistic in common, rows of both sides are left out (reading_find_unpaired): *unpaired is the number of those names. Own:
 * the readings stay the caller's. Err: out of memory.
 */
int reading_pair(struct reading *base, const char *base_file, struct reading *target, const char *target_file,
	struct buf *warnings, int *unpaired, struct fw_err *err);

#endif
