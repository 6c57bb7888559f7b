/** object.h - common parts of JSON readers: loading, positions for messages, lists of times. */
#ifndef READERS_OBJECT_H
#define READERS_OBJECT_H

#include <jansson.h>

#include "lib/field.h"
#include "readers/row.h"

enum { OBJECT_NAME_SIZE = 512, OBJECT_TEXT_SIZE = 4 * OBJECT_NAME_SIZE };

/** Parse the whole text as one object. Own: json_decref. Err: NULL, with the line. */
json_t *object_load(const char *text, size_t len, const char *file, struct fw_err *err);
/** Add the file to a mistake found by lib/field.h; leave others. Returns -1. */
int object_mistake(struct fw_err *err, const char *file);
/** Format "file: benchmarks[0].real_time", for messages. Shape: out[OBJECT_TEXT_SIZE]. */
const char *object_position(char out[OBJECT_TEXT_SIZE], const char *file, const struct fields *f, const char *key);
/**
 * Add the number, or the numbers of the list, at `name` to the row of `key`. If one is no time, the row is left out, with that
 * reason. Units: unit_ms is ms of one. Err: too many values.
 */
int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err);
/** Add all conditions (reading_report) among the texts, numbers and booleans of an object. Err: out of memory. */
int object_report_conditions(struct reading *out, json_t *object, struct fw_err *err);

#endif
