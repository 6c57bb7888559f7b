/**
 * device.h - classes of devices, which share queue, calibration and history, and the throttling of each device. Loop only; writes
 * inside the caller's transaction.
 */
#ifndef DB_DEVICE_H
#define DB_DEVICE_H

#include "protocol/protocol.h"
#include "model/devicestate.h"
#include "db/db.h"

enum { STORE_MODEL_SIZE = 160 };

/** The class of a device, inserted where it is new. */
int store_class_put(struct db *db, const struct msg_device *d, int64_t *id, struct fw_err *err);
/** The class of an environment; 0 no such environment. */
int store_class_of_environment(struct db *db, int64_t environment, int64_t *id, struct fw_err *err);
/** Whether another device of its class is in state ok and does not deviate from the class. 1, 0, -1. */
int store_class_has_other(struct db *db, int64_t device, struct fw_err *err);
/** Whether a device has the class and the cuDNN of another, and does not deviate from the class. 1, 0, -1. */
int store_class_same(struct db *db, int64_t device, int64_t other, struct fw_err *err);
/** Model of a class; "" no such class. Shape: model[STORE_MODEL_SIZE]. */
int store_class_model(struct db *db, int64_t id, char *model, struct fw_err *err);

/** Time of the reference commit of a baseline period on a device in one cell. */
struct store_reference_time {
	int64_t device, baseline_period, comparison;
	const char *key;
	double ln_ms; /* of the first reference commit, at the baseline period's clock */
};
/** Insert, or replace the earlier time. */
int store_reference_time_put(struct db *db, const struct store_reference_time *t, struct fw_err *err);
typedef int store_reference_time_fn(void *arg, const struct store_reference_time *t);
/** Times of the devices that are in a class now, cell by cell. Stops where the callback returns other than 0. */
int store_reference_times(struct db *db, int64_t class, store_reference_time_fn *each, void *arg, struct fw_err *err);

struct store_class_device {
	int64_t id;
	char uuid[64], stands_out[256];
	enum devicestate state;
	int alarms, of_itself; /* false alarms and comparisons among its newest STORE_CLASS_LOOK comparisons of equal builds */
};
enum { STORE_CLASS_LOOK = 3, STORE_CLASS_DEVICES_MAX = 512 };
/** Devices that are in a class now, without absent ones. How many, -1. Own: free(*out). */
int store_class_devices(struct db *db, int64_t class, struct store_class_device **out, struct fw_err *err);
/** Set how a device deviates from its class; "" it does not. */
int store_class_stands_out(struct db *db, int64_t device, const char *why, struct fw_err *err);

/**
 * SQL condition: a device of class `class` may run job j. The job requests any class, or this one, or a class of the same model that no
 * present device has, as after a driver update.
 */
#define STORE_CLASS_FITS(class)                                                                                                  \
	"(j.device_class IS NULL OR j.device_class = " class                                                                     \
		" OR (NOT EXISTS (SELECT 1 FROM device AS last WHERE "                                                           \
		"last.class = j.device_class AND last.state <> 'absent') AND (SELECT model FROM device_class WHERE id = "        \
		"j.device_class) = (SELECT model FROM device_class WHERE id = " class "))) "

/* ---- throttling --------------------------------------------------------------------------------------------------------- */

/** Add to the device's throttled time for `reason`. Units: s, at least 0. */
int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err);

typedef void store_throttle_fn(void *arg, const char *device_uuid, const char *reason, double seconds);
/** Every GPU (real or simulated) with every throttle reason (protocol/device_check.h), also those with 0 s. */
int store_throttle_each(struct db *db, store_throttle_fn *each, void *arg, struct fw_err *err);

#endif
