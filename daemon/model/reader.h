/**
 * reader.h - a suite file as a family reads it: lists of numbers and words with their mistakes, and a place for cases.
 *
 * Names, thresholds, seed and directions are the suite's, and read before.
 */
#ifndef MODEL_READER_H
#define MODEL_READER_H

#include <stdint.h>

#include "lib/yaml.h"

enum { READER_LIST_MAX = 32 };

struct reader {
	struct yaml *y;
	/** Add one case in every direction of the suite. Mistakes are told at `at`, once. */
	void (*add)(struct reader *r, struct yaml_node *at, const void *shape);
	void *arg; /* of add: the suite's */
};

void reader_add(struct reader *r, struct yaml_node *at, const void *shape);

/** A list of 1 to `max` whole numbers up to `most`. Returns how many, 0 after a mistake or without a list. Shape: out[max]. */
int reader_ints(struct reader *r, struct yaml_node *list, int max, int64_t most, int32_t *out);
/** A list of 1 to READER_LIST_MAX numbers between 0 and 1; likewise. */
int reader_shares(struct reader *r, struct yaml_node *list, double *out);
/** A word's place among `words` (NULL behind the last); -1 and a mistake that says `hint` where it is none. */
int reader_word(struct yaml *y, struct yaml_node *n, const char *const *words, const char *hint);
/** A mistake at `map` where `value` is not there. */
void reader_require(struct yaml *y, const struct yaml_node *map, const struct yaml_node *value, const char *key);

#endif
