/**
 * headline.h - the cell that represents a comparison's verdict in lists: of an improvement the best cell, of a failure the first
 * failed one, else the worst.
 */
#ifndef DB_HEADLINE_H
#define DB_HEADLINE_H

#include "db/comparison.h"

struct view_headline {
	const char *key, *title, *direction, *failure, *reason; /* "" none */
	int64_t size;
	int n; /* position in the suite */
	double threshold_pct;
	double change_pct, low_pct, high_pct; /* that the verdict is based on, with its 95 % interval; NAN not timed */
	int alike, cells;                     /* cells with the comparison's verdict, 0 where it is unchanged; all cells */
};
typedef void view_headline_fn(void *arg, const struct view_headline *row);
/** One row; none for an unknown comparison, or one without cells. */
int view_headline(struct db *db, int64_t comparison, view_headline_fn *each, void *arg, struct fw_err *err);
/** The same for a cell by its key. */
int view_reported(struct db *db, int64_t comparison, const char *key, view_headline_fn *each, void *arg, struct fw_err *err);

#endif
