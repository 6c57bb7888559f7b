/**
 * cell.h - views for single pages: neighbours of a comparison, a branch's cells over its last comparisons, a cell's runs, typical
 * durations of jobs, device checks.
 *
 * The rules of comparison.h hold: texts of a row are valid inside the callback only, absent numbers are NAN, absent ids 0.
 */
#ifndef DB_CELL_H
#define DB_CELL_H

#include "db/comparison.h"

/** Neighbours of a comparison, which may change after it finished. Ids 0 and texts "": none. */
struct view_around {
	char etag[65];
	enum verdict verdict, previous_verdict; /* the latter of `previous` */
	int64_t previous, next;                 /* of its branch and suite; `previous` is of the push before */
	char previous_base[65], previous_target[65], previous_baseline_period[65], previous_etag[65];
	int64_t alert;               /* the newest of its target; 0 for a comparison with a peer, which opens no alert */
	enum alertstate alert_state; /* of `alert` */
};
/** ERR_NOT_FOUND: no such comparison. */
int view_around(struct db *db, int64_t comparison, struct view_around *out, struct fw_err *err);

typedef void view_cell_change_fn(void *arg, const char *key, double change_pct);
/** The change of every cell of a comparison, unordered. */
int view_cell_changes(struct db *db, int64_t comparison, view_cell_change_fn *each, void *arg, struct fw_err *err);

/** A cell's row by its key. ERR_NOT_FOUND. */
int view_cell_id(struct db *db, int64_t comparison, const char *key, int64_t *id, struct fw_err *err);

typedef void view_info_fn(void *arg, const char *info_json);
/** JSON of a device's properties; no call for an unknown device. */
int view_device_info(struct db *db, const char *uuid, view_info_fn *each, void *arg, struct fw_err *err);

struct view_grid {
	int64_t comparison;
	enum verdict verdict;
	const char *target, *subject, *key, *group, *title, *direction;
	int64_t size;
	double tflops, target_median_ms, change_pct;
};
typedef void view_grid_fn(void *arg, const struct view_grid *row);
/** Cells of the last `n` comparisons of a branch with a suite, newest comparison first, each in the order of its suite. n <= 100. */
int view_grid(struct db *db, const char *repo, const char *branch, const char *suite, int n, view_grid_fn *each, void *arg,
	struct fw_err *err);

struct view_run {
	int process_run, set, pairs;
	double change_pct, change_raw_pct; /* of throughput, at equal clocks and as measured */
	double low_pct, high_pct;          /* 95 % interval of change_pct, from the noise of its pairs; NAN unknown */
	double base_mhz, target_mhz;       /* means over the run's calls; NAN unknown */
	const char *order;                 /* of the calls, "ABBA..." */
};
typedef void view_run_fn(void *arg, const struct view_run *row);
/** Runs of a cell's deciding series, in order. */
int view_runs(struct db *db, int64_t cell, view_run_fn *each, void *arg, struct fw_err *err);
/** Whether a second set of fresh runs timed the cell. 1, 0, -1. */
int view_confirmed(struct db *db, int64_t cell, struct fw_err *err);
/** Number of timed pairs of whole calls of a cell over all runs. */
int view_call_pairs(struct db *db, int64_t cell, int64_t *pairs, struct fw_err *err);

/**
 * Median duration of the last 20 finished jobs of this suite, kind and kind of device ("": any) among the newest 5,000 jobs. Units: s; 0
 * unknown.
 */
int view_usual_s(
	struct db *db, const char *suite, enum jobkind kind, const char *device_kind, double *usual_s, struct fw_err *err);

/** Append the JSON of the device's newest device check during a measurement; nothing where there is none. */
int view_last_device_check(struct db *db, int64_t device, struct buf *device_check_json, struct fw_err *err);

typedef void view_word_fn(void *arg, const char *word);
/** Cell keys of a branch's newest comparison with each suite, or each shard of a sharded suite; branch NULL or "": of any branch. */
int view_cell_keys(struct db *db, const char *repo, const char *branch, view_word_fn *each, void *arg, struct fw_err *err);

#endif
