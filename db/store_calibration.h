/**
 * store_calibration.h - what equal builds have shown of cells and devices, as rows and for people. Loop only; writes inside the
 * caller's transaction.
 */
#ifndef DB_STORE_CALIBRATION_H
#define DB_STORE_CALIBRATION_H

#include "core/calibration.h"
#include "db/db.h"

struct store_calibration {
	int64_t environment;
	const char *key; /* of the cell */
	struct calibration pooled;
	int comparisons, alarms; /* of a module with itself, and those of them that called this cell a regression */
	double tau, mde_pct;     /* log ratio; per cent */
	bool blind;
};

/** A cell's row; zeros where there is none yet. `key` stays the caller's. */
int store_calibration_get(struct db *db, int64_t environment, const char *key, struct store_calibration *out, struct fw_err *err);
int store_calibration_put(struct db *db, const struct store_calibration *c, int64_t now_ms, struct fw_err *err);

/** The newest environment of a device as it is now (driver, toolkit) for a suite; 0 none. */
int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err);

/** When a calibration of this repository was last asked for on this device; 0 never. */
int store_calibration_asked(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err);

/* ---- for people ------------------------------------------------------------------------------------------------------- */

/** All comparisons of a module with itself on a device, and how many of them would have alerted. */
struct view_false_alarms {
	int comparisons, alarms;
	double upper_pct; /* 95 % upper bound of the share of alarms; NAN: none run */
	int cells, blind; /* calibrated, in the environments of today */
	int64_t last_at;  /* 0 never */
};
int view_false_alarms(struct db *db, int64_t device, struct view_false_alarms *out, struct fw_err *err);

struct view_calibration {
	const char *device, *cell; /* device: its uuid */
	int comparisons, alarms, launches;
	double tau_pct, mde_pct; /* scatter between launches; smallest loss that is called */
	bool blind;
	int64_t updated_at;
};
typedef void view_calibration_fn(void *arg, const struct view_calibration *row);
/** Cells of the newest environments, by device and key. `device` (uuid) NULL or "": all. */
int view_calibrations(struct db *db, const char *device, view_calibration_fn *each, void *arg, struct fw_err *err);

#endif
