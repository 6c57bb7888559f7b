/** clock_set.h - correction of stored times after the machine's clock was set. Writes inside the caller's transaction. */
#ifndef DB_CLOCK_SET_H
#define DB_CLOCK_SET_H

#include "db/db.h"

/**
 * Shift times as the clock was shifted, so that ages and pauses stay the same: of open jobs, retries, notifications, sessions (which end at
 * most `session_ms` from now), devices, webhooks and idempotency keys. Times of ended jobs and of alerts shift only where they are in the
 * future now, since scheduling reads them. Comparisons keep theirs.
 * Units: by_ms is the change of the clock, negative when it was set back; now_ms is its time now.
 */
int store_clock_set(struct db *db, int64_t by_ms, int64_t session_ms, int64_t now_ms, struct fw_err *err);

/** How far the newest time of a job or device is after `now_ms`: above 0 where the clock was set back while no daemon ran. */
int store_clock_ahead(struct db *db, int64_t now_ms, int64_t *ahead_ms, struct fw_err *err);

#endif
