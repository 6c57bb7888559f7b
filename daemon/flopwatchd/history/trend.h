/**
 * trend.h - what main's history shows although no single comparison did: steps below the threshold, and drift.
 *
 * After each new point of a series the scan of core/stats/changepoint.h looks back. A step that it finds is a candidate: the two commits
 * around it are compared directly (jobs of kind verify), then their neighbours; a confirmed one is placed among commits that
 * were never measured (kind backfill), and stored as a change point, with an alert where it is slower. Every step of this is a row,
 * so that a restart goes on where it was. Inside the judge's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_TREND_H
#define FLOPWATCHD_HISTORY_TREND_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/history/baseline_period.h"

/** Follow what a stored result adds to the history, and what it answers. Its job is done, its cells and ratios are stored. */
int trend_follow(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	const struct baseline_period *e, int64_t now_ms, struct fw_err *err);

/** Take up change points whose jobs have ended without a result. */
int trend_resume(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
