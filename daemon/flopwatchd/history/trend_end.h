/** trend_end.h - losses of the history that come bit by bit, and the end of all that it told of. Inside the judge's transaction. */
#ifndef FLOPWATCHD_HISTORY_TREND_END_H
#define FLOPWATCHD_HISTORY_TREND_END_H

#include "flopwatchd/history/change.h"

/**
 * Look whether a cell has lost more since its baseline period's first reference commit than its threshold and what is expected (steps that were told, drift
 * that people have answered for). Drift is told once; while its alert is open the alert keeps up with the loss, and with what the
 * eight points after the one at which it was told say of its range.
 */
int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err);

/**
 * End the losses of this cell that later commits have made up for: a step of which less than half is left, drift that is below its
 * threshold again. An alert of which nothing lasts is resolved; `comparison` shows it. `s`: the series since the last confirmed step.
 */
int trend_end(const struct trend *t, int64_t comparison, const struct store_baseline_period *e, const struct store_cell *cell,
	const struct store_series *s, struct fw_err *err);

#endif
