/** calibration.h - noise of cells and devices, from comparisons of equal builds. Loop only; writes inside the caller's transaction. */
#ifndef DB_CALIBRATION_H
#define DB_CALIBRATION_H

#include "stats/calibration.h"
#include "db/db.h"

/** Noise of a cell in one comparison of equal builds. */
struct store_noise {
	int64_t comparison, repo, environment;
	const char *key; /* of the cell */
	struct calibration shown;
	bool is_itself, is_alarm; /* compared a module with itself; its verdict was regression */
	int64_t at;
};
/** Insert a row, and delete all but the newest CALIBRATION_PARTS_MAX rows of the cell. */
int store_noise_add(struct db *db, const struct store_noise *s, struct fw_err *err);
/** Noise of a cell pooled over the rows that are not expired at `now_ms`; zeros: no rows. */
int store_noise_get(struct db *db, int64_t repo, int64_t environment, const char *key, int64_t now_ms, struct calibration *out,
	struct fw_err *err);
/** Delete the noise of a repository's cells that match `globs` (suite.h; "": all), on the class of a device (uuid; "": all). *n: cells. */
int store_noise_forget(struct db *db, int64_t repo, const char *device_uuid, const char *globs, int *n, struct fw_err *err);

/** The newest environment of a suite with the device's current class; 0 none. */
int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err);

/** Time of the latest calibration job of this repository on this device; 0 never. */
int store_calibration_requested(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------ */

/** Comparisons of equal builds on a device, and the false alarms among them. */
struct view_false_alarms {
	int comparisons, alarms;
	double upper_pct; /* 95 % upper bound of the share of alarms; NAN: no comparisons */
	int64_t last_at;  /* 0 never */
};
int view_false_alarms(struct db *db, int64_t device, struct view_false_alarms *out, struct fw_err *err);

/** Calibration of a cell at one time, and the values that a comparison at that time would use. */
struct view_calibration {
	const char *repo, *suite, *model, *cell;
	int64_t class;                 /* of devices of that model */
	int comparisons, alarms, runs; /* of equal builds; regressions among them; runs of all */
	double tau0_pct;               /* noise between runs that the rule uses; NAN: too few runs */
	double mde_pct;                /* minimum detectable slowdown of a full set of runs */
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
