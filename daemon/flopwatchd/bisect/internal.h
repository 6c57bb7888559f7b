/** internal.h - what the files of this folder share. */
#ifndef FLOPWATCHD_BISECT_INTERNAL_H
#define FLOPWATCHD_BISECT_INTERNAL_H

#include "db/db.h"
#include "flopwatchd/bisect/bisect.h"

/* ---- load: The state of a search, read from stored comparisons. ---- */

/** Load cells, points and direct measurements of a search whose goal is known. Own: free(*out). */
int bisect_load(struct db *db, const struct store_bisect *b, struct bisect_search **out, struct fw_err *err);

/**
 * Set b->goal, b->cells and b->verdict from the comparison of both ends. Goal "" if nothing was lost. Lost cells precede failed
 * ones; cells beyond the limit of a search are left out.
 */
int bisect_load_goal(struct db *db, struct store_bisect *b, struct fw_err *err);

/** Append `key` to a list of cells. False: it does not fit. Shape: cells[STORE_JOB_CELLS_SIZE]. */
bool bisect_add_cell(char *cells, const char *key);

#endif
