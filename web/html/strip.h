/**
 * strip.h - every timed call of a cell as a dot on two strips, base above target, so that slow calls are seen and not only counted.
 */
#ifndef WEB_HTML_STRIP_H
#define WEB_HTML_STRIP_H

#include "db/store/sample.h"

/** Draw the calls of the series that decides; nothing where its samples were thinned. `id`: the cell's row. Err: the database. */
int strip_draw(struct buf *out, struct db *db, int64_t id, enum series series, struct fw_err *err);

#endif
