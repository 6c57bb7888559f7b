/**
 * shard.h - a suite with more cells than a push should wait for is measured in parts: part 0 on every push, the others one
 * after the other at night. Pure, and the same for the same suite wherever it is asked.
 *
 * Part 0 is drawn by the cells' keys, so that a case which joins a suite changes little of what is drawn; the rest is cut in the order of the file.
 * A cell comes with the one that it is held against, in whatever part it is, so that both are timed in the same runs.
 */
#ifndef CORE_SUITE_SHARD_H
#define CORE_SUITE_SHARD_H

#include "core/suite/suite.h"

enum { PART_CELLS = 40 /* of a part that is measured at night; companions come beside */ };

/** How many parts it has, 1 to all: with 1 everything is measured on a push. */
int suite_parts(const struct suite *s);

/** What is kept of a suite beside its cells. */
struct suite_size {
	int cells, parts; /* of the whole, and with part 0 */
	int nights;       /* in which all are to be measured */
};
struct suite_size suite_size(const struct suite *s);
/** Keep the cells of one part alone. Err: ERR_NOT_FOUND there is no such part; nothing is changed. */
int suite_take_part(struct suite *s, int part, struct fw_err *err);
/**
 * Keep what one comparison measures: cells that match `globs`, or without globs (NULL, "") those of a part. Err: ERR_INVALID none matches, or more than
 * JOB_CELLS_MAX do; ERR_NOT_FOUND.
 */
int suite_choose(struct suite *s, const char *globs, int part, struct fw_err *err);

/** A comparison of one part, for people. */
struct part_words {
	int number, of;         /* 0 what a push measures; parts at night */
	int cells, suite_cells; /* of the comparison, and of the whole suite */
	int nights, measured;   /* in which all parts are to be measured; how many were */
};
/** Shape: text[size]; 240 bytes are enough. */
void part_text(const struct part_words *p, char *text, size_t size);

#endif
