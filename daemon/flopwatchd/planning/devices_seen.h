/**
 * devices_seen.h - a worker says which devices it has: they are stored, what changed around them is asked for, and those that it had before
 * and has no more are absent, until one is named again.
 *
 * Nothing is concluded from a worker that does not answer, nor from one that has no device at all, and of a machine whose devices a
 * scheduler gives one by one only what was not seen there for a month while others were.
 */
#ifndef FLOPWATCHD_PLANNING_DEVICES_SEEN_H
#define FLOPWATCHD_PLANNING_DEVICES_SEEN_H

#include "core/protocol/protocol.h"
#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"

/**
 * Take what worker `w` says at `now_ms`. Devices that the configuration does not let it measure on are none of its. What the daemon itself
 * had queued for one that is gone is cancelled. *n counts the jobs that are asked for. In a transaction of its own. Err: the database.
 */
int devices_seen(
	struct txn *g, const struct config_worker *w, const struct msg_hello *hello, int64_t now_ms, int *n, struct fw_err *err);
/** Devices of workers that are not in the configuration any more are absent. In a transaction of its own. Err: the database. */
int devices_of_no_worker(struct txn *g, int64_t now_ms, struct fw_err *err);

#endif
