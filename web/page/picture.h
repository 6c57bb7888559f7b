/** picture.h - a comparison as an SVG file of its own: each cell's change with its interval, for a README or a review. */
#ifndef WEB_PAGE_PICTURE_H
#define WEB_PAGE_PICTURE_H

#include "web/page/comparison.h"

/** Draw. Its colours are its own, it is XML and needs no script; cells after the first 60 are counted instead of drawn. */
void comparison_picture(struct buf *out, struct comparison *c);

#endif
