/**
 * note.h - for the readers of single formats: what they leave out of the rows, and figures that are no times.
 *
 * A row without a time is no note: see reading_leave.
 */
#ifndef CORE_READING_NOTE_H
#define CORE_READING_NOTE_H

#include "core/reading/row.h"

/** Say one sentence about the file, once. More than READING_NOTES_MAX are counted by the last one. Err: out of memory. */
int reading_note(struct reading *r, struct fw_err *err, const char *sentence, ...) __attribute__((format(printf, 3, 4)));
/**
 * Add a value to the figure of a key and metric. A second value in another unit of the same quantity (Kbyte, Mbyte) is converted; one of another
 * quantity is another figure. Err: more than READING_ROWS_MAX figures, or READING_VALUES_MAX values.
 */
int reading_add_figure(struct reading *r, const char *key, const char *metric, const char *unit, double value, const char *where,
	struct fw_err *err);
/** What a value in `from` is multiplied by to be one in `to`; 0: they are units of different quantities. */
double reading_unit_factor(const char *from, const char *to);
/** The figure of another file that is the same quantity of the same row; NULL none. */
const struct reading_figure *reading_find_figure(const struct reading *r, const struct reading_figure *like);

#endif
