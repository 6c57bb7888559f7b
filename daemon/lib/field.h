/**
 * field.h - strict conversion of one JSON object's keys to C values.
 *
 * Every getter names a rejected key in `err` and records the failure, so a reader is a plain list of fields with one check at
 * its end. After a failure getters return harmless values. All values of a peer pass through here.
 */
#ifndef LIB_FIELD_H
#define LIB_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct fields {
	json_t *object; /* borrowed */
	char where[64]; /* "job.cells[3]": prefix of the key in messages */
	struct fw_err *err;
	bool failed;
};

enum field_set {
	FIELD_WORD, /* A-Z a-z 0-9 _ - . : + */
	FIELD_PATH, /* printable without control characters; any UTF-8 */
	FIELD_HEX   /* 0-9 a-f */
};

/** Begin on `object` (borrowed). Other values than objects are a failure. */
void field_begin(struct fields *f, json_t *object, struct fw_err *err, const char *where, ...)
	__attribute__((format(printf, 4, 5)));
/** Record "where.key: what". Returns -1. */
int field_fail(struct fields *f, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool field_has(const struct fields *f, const char *key);

/* Required values in a range, both ends included. */
int64_t field_int(struct fields *f, const char *key, int64_t min, int64_t max);
double field_double(struct fields *f, const char *key, double min, double max);
bool field_bool(struct fields *f, const char *key);
/** Read a 64-bit number written as a decimal string, since JSON readers lose bits. */
uint64_t field_u64(struct fields *f, const char *key);

/* The same, with a value for an absent (or null) key. */
int64_t field_int_or(struct fields *f, const char *key, int64_t min, int64_t max, int64_t absent);
double field_double_or(struct fields *f, const char *key, double min, double max, double absent);
bool field_bool_or(struct fields *f, const char *key, bool absent);

/** Read a required string of `set` characters, `min` to size - 1 bytes. Shape: out[size]. */
void field_token(struct fields *f, const char *key, enum field_set set, size_t min, char *out, size_t size);
/**
 * Read a required hex digest: 40 or 64 digits (git), or only 64 (`sha256`); empty allowed if `may_be_empty`. Shape: out[65].
 */
void field_digest(struct fields *f, const char *key, bool sha256, bool may_be_empty, char out[65]);
/** Read one of a NULL-terminated list of words. Returns its position, -1 after a failure. Shape: out[size]; may be NULL. */
int field_word(struct fields *f, const char *key, const char *const *words, char *out, size_t size);
/** Read display text: control characters become spaces, long text is cut at a character. Absent: "". */
void field_text(struct fields *f, const char *key, char *out, size_t size);

/** Read display text of several lines: LF and tabs stay. */
void field_lines(struct fields *f, const char *key, char *out, size_t size);

/** Read an array of min..max items; NULL after a failure. Own: borrowed. */
json_t *field_array(struct fields *f, const char *key, size_t min, size_t max);
/** Read an array of `n` integers from 0 on. Shape: out[n]. Returns 0, -1 after a failure. */
int field_sizes(struct fields *f, const char *key, int *out, size_t n);
/** Read an object; NULL after a failure. Own: borrowed. */
json_t *field_object(struct fields *f, const char *key);

bool field_is(enum field_set set, const char *text);

#endif
