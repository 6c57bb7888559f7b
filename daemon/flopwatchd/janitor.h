/**
 * janitor.h - keeps the database from growing without bound: once an hour, in small steps with pauses between them.
 *
 * Raw times go after JANITOR_RAW_DAYS (each launch's estimate stays, so that a verdict can be reached again) and so does the log of
 * deliveries, events after JANITOR_EVENT_DAYS, and what is remembered of webhooks, so that none is played twice, after
 * JANITOR_DELIVERY_DAYS and beyond the newest JANITOR_DELIVERIES. Everything else is kept for ever. Where much of the file is free
 * afterwards, it shrinks.
 */
#ifndef FLOPWATCHD_JANITOR_H
#define FLOPWATCHD_JANITOR_H

#include "db/sqlite/db.h"
#include "flopwatchd/runtime/loop.h"

enum { JANITOR_RAW_DAYS = 90, JANITOR_EVENT_DAYS = 7, JANITOR_DELIVERY_DAYS = 180, JANITOR_DELIVERIES = 20000 };

struct janitor;

/** Start; the first round comes after an hour. Own: janitor_stop. */
int janitor_start(struct loop *loop, struct db *db, struct janitor **out, struct fw_err *err);
/** Accepts NULL. */
void janitor_stop(struct janitor *j);

/**
 * One step, in a transaction of its own. Units: now_ms as clock_utc_ms. 1 there may be more to do, 0 done, -1.
 */
int janitor_step(struct db *db, int64_t now_ms, struct fw_err *err);

#endif
