/** trend_end.h - drift in the history, and recovery from its losses. Inside the judge's transaction. */
#ifndef FLOPWATCHD_HISTORY_TREND_END_H
#define FLOPWATCHD_HISTORY_TREND_END_H

#include "flopwatchd/history/change.h"

/**
 * Check whether a cell lost more since its period's first reference commit than its threshold plus the expected loss (reported
 * steps, and drift that users answered for). Drift is reported once; its open alert follows the loss, and the range as refined
 * by the eight points after the report.
 */
int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err);

/**
 * End losses of this cell that later commits made up for: a step of which less than half is left, drift below its threshold. An
 * alert without a remaining loss is resolved; `comparison` shows it. `s`: the series since the last confirmed step.
 */
int trend_end(const struct trend *t, int64_t comparison, const struct store_baseline_period *e, const struct store_cell *cell,
	const struct store_series *s, struct fw_err *err);

#endif
