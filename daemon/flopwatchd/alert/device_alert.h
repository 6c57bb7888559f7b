/**
 * device_alert.h - alerts about devices. Kind device_offline: a device sent nothing for limits.offline_after while jobs wait
 * that it could run; the alert ends with its next hello. Kind quarantined: a device is quarantined that long, or jobs wait that
 * no other device can run; the alert ends when the device is back or no job waits.
 */
#ifndef FLOPWATCHD_ALERT_DEVICE_ALERT_H
#define FLOPWATCHD_ALERT_DEVICE_ALERT_H

#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"

struct device_alert_watch;

/** Check at intervals. Own: borrows all. */
int device_alert_start(
	struct loop *l, const struct config *c, struct txn *g, struct device_alert_watch **out, struct fw_err *err);
/** Accepts NULL. */
void device_alert_stop(struct device_alert_watch *s);

/**
 * Open and resolve what is due at `now_ms`, inside the caller's transaction. A paused device and one with a job are never
 * offline. *changed counts the opened and resolved alerts.
 */
int device_alert_look(struct db *db, const struct config *config, int64_t now_ms, int *changed, struct fw_err *err);

#endif
