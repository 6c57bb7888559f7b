/**
 * environment_seen.h - a worker says what is around its devices: another compiler, library, driver, VBIOS, power limit or device is noticed
 * here, and measured before anybody's commit is blamed for it.
 *
 * A commit of the upstream branch is built anew beside the module that it had before, which the worker still keeps; and the reference commit is timed
 * again, to begin the new baseline period and to be held against the old one. Loop only; inside the caller's transaction.
 */
#ifndef FLOPWATCHD_PLANNING_ENVIRONMENT_SEEN_H
#define FLOPWATCHD_PLANNING_ENVIRONMENT_SEEN_H

#include "core/protocol/protocol.h"
#include "db/sqlite/db.h"
#include "flopwatchd/runtime/config.h"

/**
 * Ask for what has to be measured because `d`, which is stored as seen at `now_ms`, is not as it was when it last measured for a history.
 * What a device of its class has seen already is not asked for again. One that `is_new` takes the place of the device of its kind that this
 * worker has no more. *n counts the jobs.
 */
int environment_seen(struct db *db, const struct config *config, const char *worker, const struct msg_device *d, bool is_new,
	int64_t now_ms, int *n, struct fw_err *err);

#endif
