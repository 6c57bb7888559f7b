/** timeline.h - the queue as a picture: what each device did, does, and what waits for one, on one axis of time. */
#ifndef WEB_PAGE_TIMELINE_H
#define WEB_PAGE_TIMELINE_H

#include "db/view/live.h"

/**
 * Draw the last hours up to `now_ms` and what is expected from then on, `idle_waits` as in web/answer/forecast.h; nothing where no device has done anything.
 * Err: the database.
 */
int timeline_draw(struct db *db, struct buf *out, int64_t now_ms, bool idle_waits, struct fw_err *err);

#endif
