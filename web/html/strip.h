/**
 * strip.h - every timed call of a cell as a dot on two strips, base above target, so that slow calls are seen and not only counted.
 */
#ifndef WEB_HTML_STRIP_H
#define WEB_HTML_STRIP_H

#include "base/buf.h"
#include "db/store/result.h"
#include "db/store/sample.h"

/** Draw; nothing where the samples were thinned. */
void strip_draw(struct buf *out, const struct store_runs *l);

#endif
