/**
 * janitor.h - keeps the database from growing without bound: once an hour, in small steps with pauses between them.
 *
 * Single times move to the archive after `keep_samples` (db/archive/archived.h), whose months go after `keep_archive`; each run's estimate
 * stays, so that a verdict can be reached again. The log of notifications goes after JANITOR_SENT_DAYS, events after JANITOR_EVENT_DAYS, and
 * what is remembered of webhooks, so that none is played twice, after JANITOR_NOTIFICATION_DAYS and beyond the newest JANITOR_NOTIFICATIONS.
 * Everything else is kept for ever. Where much of the file is free afterwards, it shrinks.
 */
#ifndef FLOPWATCHD_JANITOR_H
#define FLOPWATCHD_JANITOR_H

#include "db/sqlite/db.h"
#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/loop.h"

enum { JANITOR_SENT_DAYS = 90, JANITOR_EVENT_DAYS = 7, JANITOR_NOTIFICATION_DAYS = 180, JANITOR_NOTIFICATIONS = 20000 };

struct janitor;

/** Start; the first round comes after some seconds, for some daemons never run for an hour. Own: janitor_stop. */
int janitor_start(struct loop *loop, const struct config *config, struct db *db, struct janitor **out, struct fw_err *err);
/** Look again soon: the configuration has changed. */
void janitor_wake(struct janitor *j);
/** Accepts NULL. */
void janitor_stop(struct janitor *j);

/**
 * One step, in transactions of its own. Units: now_ms as clock_utc_ms. 1 there may be more to do, 0 done, -1. What does not go into the
 * archive stays where it is.
 */
int janitor_step(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
