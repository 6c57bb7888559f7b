/** row.h - for the readers of single formats: creation of rows, and parsing of numbers. */
#ifndef READERS_ROW_H
#define READERS_ROW_H

#include "readers/reading.h"

typedef int reading_fn(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err);

/**
 * Assign all further rows to result number `entry` of the file. Two results of one name become two rows, "a#1" and "a#2" in the
 * order of their numbers; values of one result are its repetitions. A reader that never calls this treats all values of a name
 * as repetitions. Shape: entry >= 0.
 */
void reading_entry(struct reading *r, int entry);
/** Return whether a time in ms is plausible: between 1e-9 and 1e9. */
bool reading_is_time(double ms);
/**
 * Add one value to the row of `key`, creating it if new. The key may be any text: invisible characters are replaced, long keys
 * are cut and marked with a hash. `where` is "file:line" or "file: path" for messages. Err: ERR_INVALID a time that is not
 * above 0 and below 1e9 ms, or too many rows or values.
 */
int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err);
/**
 * Add a row with statistics instead of values: the one of the lowest rank is its time, the others stay available for
 * reading_settle. Shape: time[n], n >= 1. Err: as reading_add; ERR_INVALID the row has a time already.
 */
int reading_state(
	struct reading *r, const char *key, const struct reading_time *time, int n, const char *where, struct fw_err *err);
/**
 * Store a condition of the measurement; a second, different value of a name is appended to the first. Invisible characters are
 * replaced, long text is cut, and entries beyond READING_FACTS_MAX are dropped. Err: out of memory.
 */
int reading_report(struct reading *r, const char *name, const char *value, struct fw_err *err);
/** Return whether a name is a condition of measurements: a card, a host, a compiler, a kind of build. */
bool reading_is_condition(const char *name);
/** Mark a row as failed by the benchmark: it has no times, whatever else the file holds. Err: as reading_add. */
int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err);
/** Leave a row out, whatever else the file holds, with a reason. Err: too many rows. */
int reading_leave(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Move all rows of `more`, which is then empty, to the end of `all`. Err: ERR_INVALID a row of that key exists; too many rows.
 */
int reading_join(struct reading *all, struct reading *more, const char *file, struct fw_err *err);
/** Make a visible key: invisible characters escaped, spaces as _, cut to fit with a hash of the whole. */
void reading_clean_key(const char *key, char out[CASE_KEY_SIZE]);
/** Make a visible text on one line, cut to fit. Shape: out[size]. */
void reading_show(const char *text, char *out, size_t size);
/** Parse a decimal number with optional trailing spaces only: no hexadecimal, no infinity. */
bool reading_number(const char *text, double *value);
/**
 * Normalise a text as part of a key: spellings of one number (0.1, 0.100000, 1e-1; 4096, 4096.0) become equal. Shape:
 * out[size].
 */
void reading_spell(const char *text, char *out, size_t size);
/** Number the results of one name, once all rows exist. Err: out of memory. */
int reading_number_twins(struct reading *r, struct fw_err *err);
const struct reading_left *reading_find_left(const struct reading *r, const char *key);

#endif
