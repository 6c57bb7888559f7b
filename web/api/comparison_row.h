/** comparison_row.h - a comparison as lists have it. */
#ifndef WEB_API_COMPARISON_ROW_H
#define WEB_API_COMPARISON_ROW_H

#include "db/comparison.h"

/** A view_comparison_fn; `arg` is the struct jsonw that the object is written to. */
void comparison_row_write(void *arg, const struct view_comparison *row);

#endif
