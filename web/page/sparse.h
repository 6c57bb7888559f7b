/**
 * sparse.h - what masks leave out and what that is worth, as the stored body says it: of an opened cell, and of all cells in sum. Nothing is
 * written where the body says nothing.
 */
#ifndef WEB_PAGE_SPARSE_H
#define WEB_PAGE_SPARSE_H

#include "web/page/comparison.h"

/** Of an opened cell: what the runner counted of the mask, what each side says it skipped, and what in that cannot be. */
void comparison_sparsity(struct buf *out, const struct comparison_cell *cell);

/** How many times as fast sparse cells are as the dense one of their length, beside 1/density. */
void comparison_beside_dense(struct buf *out, const struct comparison *c);

/** Of each mask with several lengths the throughput of the longest over that of the shortest. */
void comparison_lengths(struct buf *out, const struct comparison *c);

#endif
