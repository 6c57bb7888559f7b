/**
 * device_alert.h - notices devices that have fallen silent: jobs wait that they could run, and for as long as limits.offline_after nothing
 * was heard of them. That is an alert of kind silent, which ends by itself when they say hello again. And devices that are
 * quarantined while jobs wait that no other can take, or for as long: kind quarantined, until they are back or nothing waits.
 */
#ifndef FLOPWATCHD_ALERT_DEVICE_ALERT_H
#define FLOPWATCHD_ALERT_DEVICE_ALERT_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"

struct device_alert_watch;

/** Look from time to time. Own: borrows all. */
int device_alert_start(
	struct loop *l, const struct config *c, struct txn *g, struct device_alert_watch **out, struct fw_err *err);
/** Accepts NULL. */
void device_alert_stop(struct device_alert_watch *s);

/**
 * One look inside the caller's transaction: open and resolve what is due at `now_ms`. A device that is paused is
 * silent on purpose; one that has a job is not silent. *changed counts what was opened and resolved.
 */
int device_alert_look(struct db *db, const struct config *config, int64_t now_ms, int *changed, struct fw_err *err);

#endif
