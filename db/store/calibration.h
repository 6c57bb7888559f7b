/**
 * calibration.h - what equal builds have shown of cells and devices, as rows and for people. Loop only; writes inside the
 * caller's transaction.
 */
#ifndef DB_STORE_CALIBRATION_H
#define DB_STORE_CALIBRATION_H

#include "core/stats/calibration.h"
#include "db/sqlite/db.h"

/** What one comparison of equal builds showed of a cell. */
struct store_noise {
	int64_t comparison, repo, environment;
	const char *key; /* of the cell */
	struct calibration shown;
	bool is_itself, is_alarm; /* of a module with itself; which called this cell a regression */
	int64_t at;
};
/** Note it; of the cell's rows the newest CALIBRATION_PARTS_MAX stay. */
int store_noise_add(struct db *db, const struct store_noise *s, struct fw_err *err);
/** What is remembered of a cell at `now_ms`; zeros: nothing. */
int store_noise_get(struct db *db, int64_t repo, int64_t environment, const char *key, int64_t now_ms, struct calibration *out,
	struct fw_err *err);
/** Forget cells of a repository that match `globs` (suite.h; "": all), of the class of one device (uuid; "": all). *n counts the cells. */
int store_noise_forget(struct db *db, int64_t repo, const char *device_uuid, const char *globs, int *n, struct fw_err *err);

/** The newest environment of a device as it is now (driver, toolkit) for a suite; 0 none. */
int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err);

/** When a calibration of this repository was last asked for on this device; 0 never. */
int store_calibration_asked(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err);

/* ---- for people ------------------------------------------------------------------------------------------------------- */

/** All comparisons of a module with itself on a device, and how many of them would have alerted. */
struct view_false_alarms {
	int comparisons, alarms;
	double upper_pct; /* 95 % upper bound of the share of alarms; NAN: none run */
	int64_t last_at;  /* 0 never */
};
int view_false_alarms(struct db *db, int64_t device, struct view_false_alarms *out, struct fw_err *err);

/** What is remembered of a cell, and what the next comparison takes from it: the figures of one moment. */
struct view_calibration {
	const char *repo, *suite, *model, *cell;
	int64_t class;                 /* of devices, which is of that model */
	int comparisons, alarms, runs; /* of a module with itself; that called the cell a regression; in all */
	double tau0_pct;               /* noise of runs that its rule takes; NAN: too little is known */
	double mde_pct; /* smallest loss that a full set of runs calls; where underpowered: below it a loss has to be clear */
	bool underpowered;
	int64_t updated_at; /* newest comparison */
};
typedef void view_calibration_fn(void *arg, const struct view_calibration *row);
/** Cells of the newest environments, by repository, class and key. `repo` (name) and `device` (uuid: that of its class) NULL or "": all. */
int view_calibrations(struct db *db, const char *repo, const char *device, int64_t now_ms, view_calibration_fn *each, void *arg,
	struct fw_err *err);

/** How many cells of the class of a device (uuid) are calibrated, and how many of them are underpowered. */
struct view_calibrated {
	int cells, underpowered;
};
int view_calibrated(struct db *db, const char *device, int64_t now_ms, struct view_calibrated *out, struct fw_err *err);

#endif
