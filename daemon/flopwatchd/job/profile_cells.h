/** profile_cells.h - the cells to profile: the one that lost most of each group and direction, and the worst of these. Pure. */
#ifndef FLOPWATCHD_JOB_PROFILE_CELLS_H
#define FLOPWATCHD_JOB_PROFILE_CELLS_H

#include <stddef.h>

#include "model/case.h"
#include "protocol/evidence.h"

enum { PROFILE_CELLS_GROUPS_MAX = 16 };

struct profile_cell {
	char key[CASE_KEY_SIZE], group[16], direction[16];
	double loss; /* larger losses come first */
};

struct profile_cells {
	int n;
	struct profile_cell cell[PROFILE_CELLS_GROUPS_MAX];
};

/** Add a cell; zeros are an empty set. A loss that is not finite ranks last. */
void profile_cells_add(struct profile_cells *c, const char *key, const char *group, const char *direction, double loss);
/** Keep the `most` largest losses, in descending order. */
void profile_cells_choose(struct profile_cells *c, int most);
/** Write their keys, separated by single spaces, as a job has them. Shape: text[size]; keys that do not fit are left out. */
void profile_cells_words(const struct profile_cells *c, char *text, size_t size);

#endif
