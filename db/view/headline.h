/**
 * headline.h - the one cell that says what a comparison's verdict is about, for lists that have a line for it: of an improvement the one that
 * gained most, of a failure the first that failed, of anything else the one that lost most.
 */
#ifndef DB_VIEW_HEADLINE_H
#define DB_VIEW_HEADLINE_H

#include "db/view/comparison.h"

struct view_headline {
	const char *key, *title, *direction, *failure, *reason; /* "" where the comparison has no such cell */
	int64_t size;
	int n; /* its place in the suite */
	double threshold_pct;
	double change_pct, low_pct, high_pct; /* that the verdict stands for, with its 95 % interval; NAN not timed */
	int alike, cells;                     /* cells with the comparison's verdict, 0 where nothing happened; all of them */
};
typedef void view_headline_fn(void *arg, const struct view_headline *row);
/** One row; none for a comparison that is not there, or that has no cell. */
int view_headline(struct db *db, int64_t comparison, view_headline_fn *each, void *arg, struct fw_err *err);
/** The same of a cell by its key. */
int view_told(struct db *db, int64_t comparison, const char *key, view_headline_fn *each, void *arg, struct fw_err *err);

#endif
