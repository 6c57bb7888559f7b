/** row.h - one table of cells on a comparison's page: its head, and a row a cell. Which rows, and in which order, is the caller's. */
#ifndef WEB_PAGE_ROW_H
#define WEB_PAGE_ROW_H

#include "web/page/comparison.h"

/** Columns that not every comparison has; the same in all tables of a page. */
struct row_shape {
	bool has_flops, has_peak, has_since;
	bool by_bytes;    /* the column of FLOPs is one of bytes */
	struct unit unit; /* of it */
	int n_peers;
	const char *peer[COMPARISON_PEERS_MAX];
	int columns;
};
struct row_shape row_shape(const struct comparison *c);

/** `<table>` up to its first row; heads that sort say by which, "" none. `with_notes`: they also say what they mean. */
void row_head(struct buf *out, const struct row_shape *shape, const char *sort, bool with_notes);
/** One cell. `open`: what is known of it follows in a row of its own; `directed`: it is called with its direction. */
void row_draw(struct buf *out, const struct comparison *c, const struct row_shape *shape, const struct comparison_cell *cell,
	bool open, bool directed);

#endif
