/**
 * devices_seen.h - the devices of a worker's hello: new ones are stored, measurements of environment changes are queued, and
 * devices that the worker no longer has become absent. A worker that does not answer or has no device proves nothing. A
 * scheduler grants devices one by one: there, a device is absent if a month passed in which only others of the machine were
 * seen.
 */
#ifndef FLOPWATCHD_PLAN_DEVICES_SEEN_H
#define FLOPWATCHD_PLAN_DEVICES_SEEN_H

#include "protocol/protocol.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"

/**
 * Store the devices of worker `w` at `now_ms`, except those that the configuration excludes. Cancels the daemon's own queued
 * jobs for devices that are gone. *n counts the queued jobs. Runs its own transaction. Err: the database.
 */
int devices_seen(
	struct txn *g, const struct config_worker *w, const struct msg_hello *hello, int64_t now_ms, int *n, struct fw_err *err);
/** Mark devices of workers that are no longer configured as absent. Runs its own transaction. Err: the database. */
int devices_of_no_worker(struct txn *g, int64_t now_ms, struct fw_err *err);

#endif
