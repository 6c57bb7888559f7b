/**
 * device.h - classes of devices, which share their queue, their calibration and their history, and how long the clocks of each were held
 * back. Loop only; writes inside the caller's transaction.
 */
#ifndef DB_STORE_DEVICE_H
#define DB_STORE_DEVICE_H

#include "core/protocol/protocol.h"
#include "core/state/devicestate.h"
#include "db/sqlite/db.h"

enum { STORE_MODEL_SIZE = 160 };

/** The class of a device as it describes itself, made when it is the first of it. */
int store_class_put(struct db *db, const struct msg_device *d, int64_t *id, struct fw_err *err);
/** Of an environment; 0 there is no such. */
int store_class_of_environment(struct db *db, int64_t environment, int64_t *id, struct fw_err *err);
/** Whether another device of its class is in order and fits it. 1, 0, -1. */
int store_class_has_other(struct db *db, int64_t device, struct fw_err *err);
/** Whether a device is of the class of another, has the same cuDNN and fits its class. 1, 0, -1. */
int store_class_same(struct db *db, int64_t device, int64_t other, struct fw_err *err);
/** Its model, "" there is no such class. Shape: model[STORE_MODEL_SIZE]. */
int store_class_model(struct db *db, int64_t id, char *model, struct fw_err *err);

/** What the reference commit of a baseline period took on a device in one cell. */
struct store_reference_time {
	int64_t device, baseline_period, comparison;
	const char *key;
	double ln_ms; /* of the baseline period's first reference commit, at the baseline period's clock */
};
/** In place of what it took there before. */
int store_reference_time_put(struct db *db, const struct store_reference_time *t, struct fw_err *err);
typedef int store_reference_time_fn(void *arg, const struct store_reference_time *t);
/** All of the devices of a class that are in it now, cell by cell. A callback that says other than 0 ends it. */
int store_reference_times(struct db *db, int64_t class, store_reference_time_fn *each, void *arg, struct fw_err *err);

struct store_class_device {
	int64_t id;
	char uuid[64], stands_out[256];
	enum devicestate state;
	int alarms, of_itself; /* of its newest comparisons of equal builds, at most STORE_CLASS_LOOK: with an alarm, and all */
};
enum { STORE_CLASS_LOOK = 3, STORE_CLASS_DEVICES_MAX = 512 };
/** Devices that are in a class now and that a worker has. How many, -1. Own: free(*out). */
int store_class_devices(struct db *db, int64_t class, struct store_class_device **out, struct fw_err *err);
/** In what a device does not fit its class; "" it fits. */
int store_class_stands_out(struct db *db, int64_t device, const char *why, struct fw_err *err);

/**
 * SQL that says whether a device of class `class` may have job j: it wants any, or this one, or one that no device is of any more, as
 * after a new driver or where all of them are absent, and this is the same model.
 */
#define STORE_CLASS_FITS(class)                                                                                                  \
	"(j.device_class IS NULL OR j.device_class = " class                                                                     \
		" OR (NOT EXISTS (SELECT 1 FROM device AS last WHERE last.class = "                                              \
		"j.device_class AND last.state <> 'absent') AND (SELECT model FROM device_class WHERE id = j.device_class) = "   \
		"(SELECT model FROM device_class WHERE id = " class "))) "

/* ---- clocks that were held back ---------------------------------------------------------------------------------------------- */

/** Add to what the device of an environment was held back for `reason`. Units: s, at least 0. */
int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err);

typedef void store_throttle_fn(void *arg, const char *device_uuid, const char *reason, double seconds);
/** Every GPU (real or simulated) with every reason that limits (core/protocol/device_check.h), also those that never did. */
int store_throttle_each(struct db *db, store_throttle_fn *each, void *arg, struct fw_err *err);

#endif
