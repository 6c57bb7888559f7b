/**
 * yaml.h - typed reading of a YAML file by libyaml, for people: all mistakes in one run, each with file:line:col.
 *
 * The reader asks for the keys it knows; keys nobody asked for are mistakes, with the nearest known key as suggestion. A
 * mistake is one line "file:line:col: key.path: what; what to do" in the document's `mistakes` buffer. Values are read by the
 * type that the caller wants: `no` is a string for yaml_string and an error for yaml_bool (only true and false are
 * booleans); numbers must be numbers to their last character; durations need a unit (ms s min h), percentages may carry %.
 */
#ifndef LIB_YAML_H
#define LIB_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"

struct yaml;      /* a document */
struct yaml_node; /* borrowed from its document */

/** Read a document. Always returns one; a syntax error is a mistake and its root is NULL. Err: NULL only when memory is short. */
struct yaml *yaml_new(const char *text, size_t len, const char *file);
#define yaml_free base_yaml_free /* libyaml exports a yaml_free that its own code would take ours for */
void yaml_free(struct yaml *y);
struct yaml_node *yaml_root(struct yaml *y);
/** Its name, as yaml_new was given it. Own: the document's. */
const char *yaml_file(const struct yaml *y);
/** Number of mistakes so far, and their lines ('\n'-ended). */
int yaml_mistakes(const struct yaml *y);
const char *yaml_mistake_text(const struct yaml *y);
/** Add a mistake at `node`. */
void yaml_mistake(struct yaml *y, const struct yaml_node *node, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Where a value stands, for what only shows when the document is gone. From 1; 0 nowhere. */
struct yaml_position {
	int line, column;
};
struct yaml_position yaml_position(const struct yaml_node *n);

/** Child of a mapping, NULL if absent; marks the key as known. A `map` of NULL gives NULL. */
struct yaml_node *yaml_get(struct yaml *y, struct yaml_node *map, const char *key);
/** Whether a mapping has this key, which stays one that nobody asked for: to tell another kind of file by. */
bool yaml_has(const struct yaml_node *map, const char *key);
/** After all yaml_get calls on `map`: complain about keys nobody asked for, and duplicates. */
void yaml_finish(struct yaml *y, struct yaml_node *map);
bool yaml_is_map(const struct yaml_node *n);
bool yaml_is_list(const struct yaml_node *n);
/** A key without a value, ~ or null. */
bool yaml_is_null(const struct yaml_node *n);
/** Items of a list (or pairs of a map). NULL and non-lists have 0. */
int yaml_count(const struct yaml_node *n);
struct yaml_node *yaml_item(struct yaml *y, struct yaml_node *list, int i);
/** i-th pair of a mapping whose keys are free (marks it as known). */
struct yaml_node *yaml_pair(struct yaml *y, struct yaml_node *map, int i, const char **key);

/* Typed values. A NULL node leaves *out unchanged and returns 0; a wrong one adds a mistake and returns -1. */
int yaml_string(struct yaml *y, struct yaml_node *n, const char **out); /* Own: the document's */
int yaml_int(struct yaml *y, struct yaml_node *n, int64_t min, int64_t max, int64_t *out);
int yaml_double(struct yaml *y, struct yaml_node *n, double min, double max, double *out);
int yaml_bool(struct yaml *y, struct yaml_node *n, bool *out);
int yaml_duration_ms(struct yaml *y, struct yaml_node *n, int64_t min_ms, int64_t max_ms, int64_t *out);
/** Seconds; a bare number is taken as seconds only here, for keys that end in _s. */
int yaml_seconds(struct yaml *y, struct yaml_node *n, double min, double max, double *out);
int yaml_percent(struct yaml *y, struct yaml_node *n, double min, double max, double *out);

#endif
