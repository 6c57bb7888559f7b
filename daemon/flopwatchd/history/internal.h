/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_HISTORY_INTERNAL_H
#define FLOPWATCHD_HISTORY_INTERNAL_H

#include "flopwatchd/history/history.h"
#include "lib/lib.h"

/* ---- culprit: The commits that a change point of the history points to. ---- */

/** The range of upstream commits that contains a regression. */
struct trend_range {
	char from[65], to[65]; /* "": no range contains it */
	int commits;           /* after `from` up to `to` */
	int unmeasured;        /* of these, without a point in the series: not measured, or not measurable */
	bool is_whole;         /* `to` is the next point after `from`, so the commits between contain the whole regression */
	double change_pct;
};

/**
 * Find the range. For a step: from the old level to the new one. For drift: the commits over which the level rose, minus the
 * change expected of each commit.
 */
int trend_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err);
/** Write one line for users. Shape: out[size]. */
void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size);

/* ---- trend_alert: The alert of a regression found in the history. ---- */

/** Open or update the alert of a confirmed regression and set its id in `c`. Writes nothing if the alert already contains it. */
int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err);

/* ---- trend_end: Drift in the history, and recovery from its regressions. Inside the judge's transaction. ---- */

/**
 * Check whether a cell became slower since its period's first reference commit by more than its threshold plus the expected
 * slowdown (reported steps, and drift that users have answered). Drift is reported once. Its open alert follows the slowdown and
 * the range, which the eight points after the report refine.
 */
int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err);

#endif
