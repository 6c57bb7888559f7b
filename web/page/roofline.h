/** roofline.h - a call's useful work against the bytes that it moves, as SVG: under the roofs of DRAM, L2 and the tensor cores. */
#ifndef WEB_PAGE_ROOFLINE_H
#define WEB_PAGE_ROOFLINE_H

#include "web/page/screen.h"

/** Draw, with an arrow from base to target for each level; a line that says what is missing where it cannot be drawn. */
void roofline_draw(struct buf *out, const struct why *w, const struct screen_facts *facts);

#endif
