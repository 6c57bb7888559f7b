/**
 * spread.h - the picture of a comparison's page: every cell by its change, each with its interval, beside the others of its direction and
 * all on one axis. Lists of links, drawn with markup alone, so that it reads without scripts, by ear, and at any width.
 */
#ifndef WEB_PAGE_SPREAD_H
#define WEB_PAGE_SPREAD_H

#include "web/page/comparison.h"
#include "web/html/axis.h"

/** Draw; nothing where no cell has a change. Each row leads to the cell, opened. */
void comparison_spread(struct buf *out, struct comparison *c);

/** The axis that holds every cell's judged interval. Shape: `threshold_pct` the largest of the cells', NAN none. */
struct axis comparison_axis(struct comparison *c, double *threshold_pct);

#endif
