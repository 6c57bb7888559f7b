/** object.h - what the readers of JSON files share: loading, places for messages, lists of times. */
#ifndef CORE_READING_OBJECT_H
#define CORE_READING_OBJECT_H

#include <jansson.h>

#include "core/text/field.h"
#include "core/reading/row.h"

enum { OBJECT_NAME_SIZE = 512, OBJECT_TEXT_SIZE = 4 * OBJECT_NAME_SIZE };

/** Whole text as one object. Own: json_decref. Err: NULL, with the line. */
json_t *object_load(const char *text, size_t len, const char *file, struct fw_err *err);
/** A mistake that core/text/field.h found becomes one of the file; another one stays as it is. Returns -1. */
int object_mistake(struct fw_err *err, const char *file);
/** "file: benchmarks[0].real_time", for messages. Shape: out[OBJECT_TEXT_SIZE]. */
const char *object_place(char out[OBJECT_TEXT_SIZE], const char *file, const struct fields *f, const char *key);
/**
 * Add the number, or the numbers of the list, at `name` to the row of `key`. Where one of them is no time, the row is left out, which says so.
 * Units: unit_ms is ms of one. Err: too many values.
 */
int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err);
/** Tell all conditions (reading_tell) among the texts, numbers and booleans of an object. Err: out of memory. */
int object_tell_conditions(struct reading *out, json_t *object, struct fw_err *err);

#endif
