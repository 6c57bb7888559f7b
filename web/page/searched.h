/** searched.h - the configurations that the sides of an opened cell tried before they chose one, as their providers tell them. */
#ifndef WEB_PAGE_SEARCHED_H
#define WEB_PAGE_SEARCHED_H

#include "web/page/comparison.h"

/** Nothing where neither side tells. The cell was opened. */
void searched_draw(struct buf *out, const struct comparison_cell *cell);

#endif
