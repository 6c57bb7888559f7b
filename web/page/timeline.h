/** timeline.h - the queue as a picture: what each device did, does, and what waits for one, on one axis of time. */
#ifndef WEB_PAGE_TIMELINE_H
#define WEB_PAGE_TIMELINE_H

#include "web/answer/forecast.h"

/** Draw the last hours up to `now_ms` and what is expected from then on; nothing where no device has done anything. Err: the database. */
int timeline_draw(struct db *db, struct forecast *forecast, struct buf *out, int64_t now_ms, struct fw_err *err);

#endif
