/**
 * environment_again.h - failed measurements of an environment change are queued again, and those of an absent device are left
 * to other devices. A job that a user cancelled stays cancelled. Loop only; inside the caller's transaction.
 */
#ifndef FLOPWATCHD_PLAN_ENVIRONMENT_AGAIN_H
#define FLOPWATCHD_PLAN_ENVIRONMENT_AGAIN_H

#include "db/environment_change.h"

enum { ENVIRONMENT_TRIES = 3 }; /* of either job, by all devices of a class */

/** Queue the change's failed jobs again, unless they failed ENVIRONMENT_TRIES times. *n counts the queued jobs. */
int environment_again(struct db *db, const struct store_environment_change *change, int64_t now_ms, int *n, struct fw_err *err);
/** Cancel the queued jobs of a change that was undone before it was fully measured; a recurrence queues them again. */
int environment_over(
	struct db *db, const struct store_environment_change *change, const char *why, int64_t now_ms, struct fw_err *err);
/** Cancel the queued jobs of a device's changes; the next device that sees the same change gets them. */
int environment_leave(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err);

#endif
