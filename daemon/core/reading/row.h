/** row.h - for the readers of single formats: how rows are made, and numbers read. */
#ifndef CORE_READING_ROW_H
#define CORE_READING_ROW_H

#include "core/reading/reading.h"

/** A reader: see reading_parse. */
typedef int reading_fn(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err);

/**
 * Add one value to the row of `key`, which is made when it is new. The key may be anything: characters that hide are replaced,
 * what is too long is cut and marked with a hash. `where` is "file:line" or "file: path" for messages.
 * Err: ERR_INVALID a time that is not above 0 and below 1e9 ms, or too many rows or values.
 */
int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err);
/** The benchmark says that this row failed: it has no times, whatever else the file holds of it. Err: as reading_add. */
int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err);
/** Leave a row out, whatever else the file holds of it, and remember why. Err: too many rows. */
int reading_leave(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));
/** Whether the reader has met that row, in the words of the file, among the first `n_rows` or those that are left out. */
bool reading_met(const struct reading *r, int n_rows, const char *key);

/** A decimal number and nothing else, but spaces behind it: no hexadecimal, no infinity. */
bool reading_number(const char *text, double *value);
/** A row that was left out, by its clean key; NULL none. */
const struct reading_left *reading_find_left(const struct reading *r, const char *key);

#endif
