/**
 * strip.h - every timed call of a cell as a dot on two strips, base above target, so that slow calls are seen and not only counted.
 */
#ifndef WEB_HTML_STRIP_H
#define WEB_HTML_STRIP_H

#include "lib/buf.h"
#include "db/result.h"
#include "db/sample.h"

/** Draw; nothing where the samples were thinned. */
void strip_draw(struct buf *out, const struct store_runs *l);

#endif
