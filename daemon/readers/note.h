/**
 * note.h - for the readers of single formats: notes on lost data, and metrics other than times.
 *
 * A row without a time is no note: see reading_leave.
 */
#ifndef READERS_NOTE_H
#define READERS_NOTE_H

#include "readers/row.h"

/** Add one sentence about the file, once. Beyond READING_NOTES_MAX the last one counts them. Err: out of memory. */
int reading_note(struct reading *r, struct fw_err *err, const char *sentence, ...) __attribute__((format(printf, 3, 4)));
/**
 * Add a value to the metric of a key. A second value in another unit of the same quantity (Kbyte, Mbyte) is converted; one of
 * another quantity is another metric. Err: more than READING_ROWS_MAX metrics, or READING_VALUES_MAX values.
 */
int reading_add_figure(struct reading *r, const char *key, const char *metric, const char *unit, double value, const char *where,
	struct fw_err *err);
/** Return the factor from unit `from` to unit `to`; 0: different quantities. */
double reading_unit_factor(const char *from, const char *to);
/** Find the metric of another file with the same quantity and row; NULL none. */
const struct reading_figure *reading_find_figure(const struct reading *r, const struct reading_figure *like);

#endif
