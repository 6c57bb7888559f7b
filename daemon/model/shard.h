/**
 * shard.h - shards of a suite with more cells than a push should wait for: shard 0 on every push, the others one after the
 * other off-peak. Pure, and the same for the same suite everywhere.
 *
 * Shard 0 is sampled by hashes of the cells' keys, so that a new case changes little of the sample; the rest is divided in the
 * order of the file. A cell's shard includes its baseline cell, so that both are timed in the same runs.
 */
#ifndef MODEL_SHARD_H
#define MODEL_SHARD_H

#include "model/suite.h"

enum { PART_CELLS = 40 /* of an off-peak shard, without added baseline cells */ };

/** Return the number of shards, 1 to all: with 1 a push measures everything. */
int suite_parts(const struct suite *s);

struct suite_size {
	int cells, parts; /* of the whole suite, including shard 0 */
	int nights;       /* in which all are to be measured */
};
struct suite_size suite_size(const struct suite *s);
/** Reduce the suite to the cells of one shard. Err: ERR_NOT_FOUND there is no such shard; nothing is changed. */
int suite_take_part(struct suite *s, int part, struct fw_err *err);
/**
 * Reduce the suite to the cells of one comparison: those that match `globs`, or without globs (NULL, "") those of a shard. Err:
 * ERR_INVALID none matches, or more than JOB_CELLS_MAX do; ERR_NOT_FOUND.
 */
int suite_choose(struct suite *s, const char *globs, int part, struct fw_err *err);

struct part_words {
	int number, of;         /* 0 the push's shard; others off-peak */
	int cells, suite_cells; /* of the comparison, and of the whole suite */
	int nights, measured;   /* in which all shards are to be measured; number measured */
};
/** Write the description. Shape: text[size]; 240 bytes are enough. */
void part_text(const struct part_words *p, char *text, size_t size);

#endif
