/**
 * devicestate.h - a device's state as people see it: ok, paused, quarantined, health check (a person asked for its return and it is
 * tried first), absent. Every change is one transaction with its event. Nothing here resets a device.
 */
#ifndef FLOPWATCHD_JOB_DEVICESTATE_H
#define FLOPWATCHD_JOB_DEVICESTATE_H

#include "core/state/devicestate.h"
#include "flopwatchd/runtime/txn.h"

/** Set the state of a device and tell: event "device.state" with {"device","state","why","who"}. Err: ERR_NOT_FOUND. */
int devicestate_set(
	struct txn *g, const char *uuid, enum devicestate state, const char *why, const char *who, struct fw_err *err);
/** The same for what the daemon does by itself: a failure is logged, and the state is what it was. */
void devicestate_tell(struct txn *g, const char *uuid, enum devicestate state, const char *why);

#endif
