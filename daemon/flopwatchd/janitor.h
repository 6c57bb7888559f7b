/**
 * janitor.h - limits the growth of the database: once an hour, in small steps with pauses. Single times move to the archive
 * after `keep_samples` (db/archived.h), whose months are deleted after `keep_archive`; each run's estimate stays, so
 * that a verdict can be computed again. Notifications are deleted after JANITOR_SENT_DAYS, events after JANITOR_EVENT_DAYS, and
 * received webhook ids (which prevent replays) after JANITOR_NOTIFICATION_DAYS and beyond the newest JANITOR_NOTIFICATIONS.
 * Everything else stays. The file shrinks if much of it is free.
 */
#ifndef FLOPWATCHD_JANITOR_H
#define FLOPWATCHD_JANITOR_H

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "lib/loop.h"

enum { JANITOR_SENT_DAYS = 90, JANITOR_EVENT_DAYS = 7, JANITOR_NOTIFICATION_DAYS = 180, JANITOR_NOTIFICATIONS = 20000 };

struct janitor;

/** Start; the first round follows after seconds, because some daemons never run for an hour. Own: janitor_stop. */
int janitor_start(struct loop *loop, const struct config *config, struct db *db, struct janitor **out, struct fw_err *err);
/** Run soon: the configuration has changed. */
void janitor_wake(struct janitor *j);
void janitor_stop(struct janitor *j);

/** Run one step in its own transactions. Units: now_ms as clock_utc_ms. 1 there may be more, 0 done, -1. */
int janitor_step(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
