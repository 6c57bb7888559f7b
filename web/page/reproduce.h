/**
 * reproduce.h - commands that rerun a cell: measure it again, run either side's kernel alone, under ncu, under nsys.
 *
 * They hold what the comparison ran with: the device by its uuid, the provider, the module where the worker keeps it, the cell as JSON.
 * Rows of programs have none, and what is not known of a worker leaves its lines out.
 */
#ifndef WEB_PAGE_REPRODUCE_H
#define WEB_PAGE_REPRODUCE_H

#include "web/page/comparison.h"

/** `what` says in words what `line` does; it may have several lines. */
typedef void reproduce_line_fn(void *arg, const char *what, const char *line);

/** Where the lines about kernels run: "on gpu1, as alice"; "" where there are none. Shape: where[REPRODUCE_WHERE_SIZE]. */
enum { REPRODUCE_WHERE_SIZE = 160 };

struct site;

/** Give each line. `where` is complete before the first. Without a public address they are for where the command line looks by itself. */
int reproduce_lines(struct site *site, const struct comparison *c, const struct comparison_cell *cell,
	char where[REPRODUCE_WHERE_SIZE], reproduce_line_fn *each, void *arg, struct fw_err *err);

/** Append the line that measures how runs of the comparison's device noise, or, for `cell`, that forgets it. */
void reproduce_calibrate(const struct comparison *c, const struct comparison_cell *cell, struct buf *line);

/** The cell that a person looks at first: the worst regression, else the first with another verdict than unchanged, else the first. NULL: none. */
const struct comparison_cell *reproduce_worst(const struct comparison *c);

#endif
