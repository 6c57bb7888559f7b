/** throttle.h - how long clocks of devices were held back, and why. Loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_THROTTLE_H
#define DB_STORE_THROTTLE_H

#include "db/sqlite/db.h"

/** Add to what the device of an environment was held back for `reason`. Units: s, at least 0. */
int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err);

typedef void view_throttle_fn(void *arg, const char *device_uuid, const char *reason, double seconds);
/** Every GPU (real or simulated) with every reason that limits (core/protocol/guard.h), also those that never did. */
int view_throttle(struct db *db, view_throttle_fn *each, void *arg, struct fw_err *err);

#endif
