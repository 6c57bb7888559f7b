/** row.h - for the readers of single formats: how rows are made, and numbers read. */
#ifndef CORE_READING_ROW_H
#define CORE_READING_ROW_H

#include "core/reading/reading.h"

/** A reader: see reading_parse. */
typedef int reading_fn(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err);

/**
 * What is added, failed or left from now on belongs to result number `entry` of the file. Two results of one name become two rows, "a#1" and
 * "a#2" in the order of their numbers; values of one result are its repetitions. A reader that never calls this takes all values of a name
 * for repetitions. Shape: entry >= 0.
 */
void reading_entry(struct reading *r, int entry);
/** Whether a measured time can be so many ms: between 1e-9 and 1e9. */
bool reading_is_time(double ms);
/**
 * Add one value to the row of `key`, which is made when it is new. The key may be anything: characters that hide are replaced,
 * what is too long is cut and marked with a hash. `where` is "file:line" or "file: path" for messages.
 * Err: ERR_INVALID a time that is not above 0 and below 1e9 ms, or too many rows or values.
 */
int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err);
/**
 * Add a row whose benchmark states figures instead of values: the one of the lowest rank is its time, the others stay at hand for
 * reading_settle. Shape: time[n], n >= 1. Err: as reading_add; ERR_INVALID the row has a time already.
 */
int reading_state(
	struct reading *r, const char *key, const struct reading_time *time, int n, const char *where, struct fw_err *err);
/**
 * Note what the file says of how it was measured; a second, other value of a name is put behind the first. Hidden characters are replaced, what
 * is too long is cut, and what is more than READING_FACTS_MAX is passed over. Err: out of memory.
 */
int reading_tell(struct reading *r, const char *name, const char *value, struct fw_err *err);
/** Whether a name is one of what a measurement depends on: a card, a host, a compiler, a kind of build. */
bool reading_is_condition(const char *name);
/** The benchmark says that this row failed: it has no times, whatever else the file holds of it. Err: as reading_add. */
int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err);
/** Leave a row out, whatever else the file holds of it, and remember why. Err: too many rows. */
int reading_leave(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

/** Move all rows of `more`, which is then empty, behind those of `all`. Err: ERR_INVALID a row of that key is there; too many rows. */
int reading_join(struct reading *all, struct reading *more, const char *file, struct fw_err *err);
/** A key that shows all it is: hidden characters escaped, spaces as _, cut to fit with a mark of the whole. */
void reading_clean_key(const char *key, char out[CASE_KEY_SIZE]);
/** A text on one line that shows all it is, cut to fit. Shape: out[size]. */
void reading_show(const char *text, char *out, size_t size);
/** A decimal number and nothing else, but spaces behind it: no hexadecimal, no infinity. */
bool reading_number(const char *text, double *value);
/** A text as a part of a key: one number in two spellings (0.1, 0.100000, 1e-1; 4096, 4096.0) is one text. Shape: out[size]. */
void reading_spell(const char *text, char *out, size_t size);
/** Give results of one name their numbers, once all rows are there. Err: out of memory. */
int reading_number_twins(struct reading *r, struct fw_err *err);
/** A row that was left out, by its key; NULL none. */
const struct reading_left *reading_find_left(const struct reading *r, const char *key);

#endif
