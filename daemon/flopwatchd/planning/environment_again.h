/**
 * environment_again.h - a change around a device whose measuring came to nothing: what failed is asked for again, and what a device that
 * is gone would measure is left to others.
 *
 * What a person has cancelled stays cancelled. Loop only; inside the caller's transaction.
 */
#ifndef FLOPWATCHD_PLANNING_ENVIRONMENT_AGAIN_H
#define FLOPWATCHD_PLANNING_ENVIRONMENT_AGAIN_H

#include "db/environment/environment_change.h"

enum { ENVIRONMENT_TRIES = 3 }; /* of either job, by all devices of a class */

/** Ask once more for those of its jobs that failed, unless they did so ENVIRONMENT_TRIES times. *n counts what is asked for. */
int environment_again(struct db *db, const struct store_environment_change *change, int64_t now_ms, int *n, struct fw_err *err);
/** What it changed to is over before all of it was measured: its queued jobs end, and it is asked for again when it comes again. */
int environment_over(
	struct db *db, const struct store_environment_change *change, const char *why, int64_t now_ms, struct fw_err *err);
/** A device is not going to measure the changes that it was asked to: its queued jobs end, and whoever sees the same change is asked. */
int environment_leave(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err);

#endif
