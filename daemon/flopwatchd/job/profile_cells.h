/** profile_cells.h - which cells a profile looks at: of each group and direction the one that lost most, and of those the worst. Pure. */
#ifndef FLOPWATCHD_JOB_PROFILE_CELLS_H
#define FLOPWATCHD_JOB_PROFILE_CELLS_H

#include <stddef.h>

#include "core/case/case.h"
#include "core/protocol/evidence.h"

enum { PROFILE_CELLS_GROUPS_MAX = 16 };

struct profile_cell {
	char key[CASE_KEY_SIZE], group[16], direction[16];
	double loss; /* the larger, the sooner it is looked at */
};

struct profile_cells {
	int n;
	struct profile_cell cell[PROFILE_CELLS_GROUPS_MAX];
};

/** Zeros hold none. A cell whose loss is not finite counts as the least. */
void profile_cells_add(struct profile_cells *c, const char *key, const char *group, const char *direction, double loss);
/** Keep the first `most`, the greatest loss first. */
void profile_cells_choose(struct profile_cells *c, int most);
/** Their keys with single spaces between them, as a job has them. Shape: text[size]; keys that do not fit are left out. */
void profile_cells_words(const struct profile_cells *c, char *text, size_t size);

#endif
