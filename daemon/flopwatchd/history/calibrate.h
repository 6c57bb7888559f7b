/**
 * calibrate.h - calibration: the known noise of each cell on a device sets its rule, and equal builds update that noise. Inside
 * the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_CALIBRATE_H
#define FLOPWATCHD_HISTORY_CALIBRATE_H

#include "db/job.h"
#include "flopwatchd/job/cell.h"
#include "flopwatchd/job/plan.h"

/** Set the stored noise of the plan's cells on `device` (row). A job of kind calibrate gets a minimum of runs. */
int calibrate_plan(struct db *db, struct plan *plan, int64_t repo, int64_t device, int64_t now_ms, struct fw_err *err);

/**
 * Learn noise from a judged cell of `c` with the runs `l`: from A/A comparisons, and from changes that proved unchanged. A
 * comparison without an environment teaches nothing.
 */
int calibrate_learn(struct db *db, const struct result *r, const struct store_comparison *c, const struct judge_runs *l,
	const struct store_cell *cell, struct fw_err *err);

/**
 * Queue a calibration of the upstream branch's tip: an A/A comparison with the priority, origin, repo, suite, device_kind and
 * device_uuid of `like`. Sets like->id. Err: ERR_NOT_FOUND the branch was never seen.
 */
int calibrate_enqueue(struct db *db, const char *upstream, struct store_job *like, int64_t now_ms, struct fw_err *err);

#endif
