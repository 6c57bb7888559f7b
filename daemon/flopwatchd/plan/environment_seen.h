/**
 * environment_seen.h - environment changes: another compiler, library, driver, VBIOS, power limit or device in a worker's hello
 * is measured before any commit is blamed for its effect. An upstream commit is rebuilt and compared with its cached old
 * module; the reference commit is timed again, to begin the new baseline period and to compare with the old one. Loop only;
 * inside the caller's transaction.
 */
#ifndef FLOPWATCHD_PLAN_ENVIRONMENT_SEEN_H
#define FLOPWATCHD_PLAN_ENVIRONMENT_SEEN_H

#include "protocol/protocol.h"
#include "db/db.h"
#include "flopwatchd/config/config.h"

/**
 * Queue the measurements for device `d`, stored as seen at `now_ms`, if its environment differs from its last measurement for a
 * history. A change that another device of its class saw is not measured again. A device that `is_new` replaces a device of its
 * kind that the worker no longer has. *n counts the jobs.
 */
int environment_seen(struct db *db, const struct config *config, const char *worker, const struct msg_device *d, bool is_new,
	int64_t now_ms, int *n, struct fw_err *err);

#endif
