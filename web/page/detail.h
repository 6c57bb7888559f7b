/** detail.h - what stands under an opened row of a comparison: everything that is known of one cell. */
#ifndef WEB_PAGE_DETAIL_H
#define WEB_PAGE_DETAIL_H

#include "web/page/comparison.h"

/** Draw. Shape: `arg` the struct site. Err: the database's. */
int comparison_detail(void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

#endif
