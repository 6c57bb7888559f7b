/** table.h - the tables of a comparison's page: what moved, then what stayed by group and direction, then totals, means and fits. */
#ifndef WEB_PAGE_TABLE_H
#define WEB_PAGE_TABLE_H

#include "web/page/comparison.h"

/** What the reader wants to see; every text "" when not asked for. It all stands in the page's address. */
struct comparison_view {
	const char *show; /* a verdict, "changed" or "" */
	const char *find; /* words that a row has to hold */
	const char *sort; /* "change", "verdict", "base", "target", "case"; with '-' before it falling */
	const char *open; /* numbers of opened rows, with dots between; "" the worst regression; "none" */
};

/** What stands under an opened row. */
typedef int comparison_open_fn(
	void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

/** Cells that something happened to in one table, the worst first; the others folded by group and direction. Err: what `draw_open` said. */
int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	comparison_open_fn *draw_open, void *arg, struct fw_err *err);

/** Forward and backward together, geometric means and the line through the sparse cells; all without a verdict. */
void comparison_summary(struct buf *out, const struct comparison *c);

/** "Block-sparse", "Dense", or the group as it is called. */
void comparison_group(struct buf *out, const char *group);

#endif
