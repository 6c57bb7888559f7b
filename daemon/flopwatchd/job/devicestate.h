/**
 * devicestate.h - a device's state: ok, paused, quarantined, health_check (a user requested its return, and it is checked
 * first), absent. Every change is one transaction with its event. No state resets a device.
 */
#ifndef FLOPWATCHD_JOB_DEVICESTATE_H
#define FLOPWATCHD_JOB_DEVICESTATE_H

#include "model/devicestate.h"
#include "flopwatchd/config/txn.h"

/** Set the state of a device and send the event "device.state" with {"device","state","why","who"}. Err: ERR_NOT_FOUND. */
int devicestate_set(
	struct txn *g, const char *uuid, enum devicestate state, const char *why, const char *who, struct fw_err *err);
/** As devicestate_set, for changes by the daemon itself: a failure is logged and changes nothing. */
void devicestate_report(struct txn *g, const char *uuid, enum devicestate state, const char *why);

#endif
