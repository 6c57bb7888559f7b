/** clock_set.h - rows that name a time, after the machine's clock was set. Writes inside the caller's transaction. */
#ifndef DB_STORE_CLOCK_SET_H
#define DB_STORE_CLOCK_SET_H

#include "db/sqlite/db.h"

/**
 * Move times as the clock was moved, so that what waits and what runs keeps its age, and no pause gets longer or shorter: the queue,
 * retries, notifications, sessions (which end at most `session_ms` from now), when a device was seen, and what was remembered. Times
 * that lie in the future now, of jobs that ended and of alerts, are moved too: they decide whose turn it is. Comparisons keep theirs.
 * Units: by_ms is what the clock gained, negative when it was set back; now_ms is what it shows now.
 */
int store_clock_set(struct db *db, int64_t by_ms, int64_t session_ms, int64_t now_ms, struct fw_err *err);

/** How far ahead of `now_ms` the newest time of a job or device is, 0 if none is: the clock was set back while no daemon ran. */
int store_clock_ahead(struct db *db, int64_t now_ms, int64_t *ahead_ms, struct fw_err *err);

#endif
