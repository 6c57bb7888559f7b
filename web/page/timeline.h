/** timeline.h - the queue as a picture: what each device did, does, and what waits for one, on one axis of time. */
#ifndef WEB_PAGE_TIMELINE_H
#define WEB_PAGE_TIMELINE_H

#include "db/view/live.h"

/** How long jobs like this one take. Units: s; 0 unknown. */
double timeline_usual_s(struct db *db, const struct view_job *row);

/** Draw the last hours up to `now_ms` and what is expected from then on; nothing where no device has done anything. Err: the database. */
int timeline_draw(struct db *db, struct buf *out, int64_t now_ms, struct fw_err *err);

#endif
