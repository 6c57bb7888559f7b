/** phases.h - the parts that a call of an opened cell consists of: as bars, and as a table with the interval of each. */
#ifndef WEB_PAGE_PHASES_H
#define WEB_PAGE_PHASES_H

#include "web/page/comparison.h"

/** Draw; one line where no phase was timed by itself. The cell was opened. */
void phases_draw(struct buf *out, struct comparison_cell *cell);

#endif
