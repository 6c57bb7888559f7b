/**
 * trend.h - change points and drift in the upstream history, below the threshold of one comparison. After each new point of a
 * series the scan of stats/changepoint.h runs. A step that it finds is a candidate: the two commits around it are compared
 * directly (jobs of kind verify), then their neighbours. A confirmed step is located among commits that were never measured
 * (kind backfill) and stored as a change point, with an alert if it is slower. Every step is a row, so a restart resumes where
 * it stopped. Inside the judge's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_TREND_H
#define FLOPWATCHD_HISTORY_TREND_H

#include "flopwatchd/config/config.h"
#include "flopwatchd/history/baseline_period.h"

/** Update the history from a stored result. Its job is done, its cells and ratios are stored. */
int trend_follow(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	const struct baseline_period *e, int64_t now_ms, struct fw_err *err);

/** Continue change points whose jobs ended without a result. */
int trend_resume(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

#endif
