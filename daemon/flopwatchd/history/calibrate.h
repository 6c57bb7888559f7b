/**
 * calibrate.h - what is known of each cell's noise on a device goes into its rule, and what equal builds show goes into what is
 * known. Inside the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_CALIBRATE_H
#define FLOPWATCHD_HISTORY_CALIBRATE_H

#include "db/store/job.h"
#include "flopwatchd/judge/cell.h"
#include "flopwatchd/job/plan.h"

/**
 * Fill what is remembered of the plan's cells, of a repository on `device` (rows), at `now_ms`. A job of kind calibrate gets a minimum of
 * runs.
 */
int calibrate_plan(struct db *db, struct plan *plan, int64_t repo, int64_t device, int64_t now_ms, struct fw_err *err);

/**
 * Learn from a judged cell of `c` whose runs are `l`: from comparisons of a module with itself, and from those of a change that
 * turned out unchanged. A comparison without an environment teaches nothing.
 */
int calibrate_learn(struct db *db, const struct result *r, const struct store_comparison *c, const struct judge_runs *l,
	const struct store_cell *cell, struct fw_err *err);

/**
 * Queue a calibration of the upstream branch's tip: an A/A comparison at the priority and origin of `like`, which also holds
 * repo, suite, device_kind and device_uuid as wanted. Sets like->id. Err: ERR_NOT_FOUND the branch was never seen.
 */
int calibrate_enqueue(struct db *db, const char *upstream, struct store_job *like, int64_t now_ms, struct fw_err *err);

#endif
