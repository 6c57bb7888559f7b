/** internal.h - what the files of this folder share. */
#ifndef FLOPWATCHD_HISTORY_INTERNAL_H
#define FLOPWATCHD_HISTORY_INTERNAL_H

#include "flopwatchd/history/history.h"
#include "lib/lib.h"

/* ---- culprit: The commits that a change point of the history points to. ---- */

/** The range of upstream commits that holds a loss. */
struct trend_range {
	char from[65], to[65]; /* "": no range holds it */
	int commits;           /* after `from` up to `to` */
	int unmeasured;        /* of these, without a point in the series: not measured, or not measurable */
	bool is_whole;         /* `to` is the next point after `from`, so the commits between hold the whole loss */
	double change_pct;
};

/**
 * Find the range: for a step from the old level to the new one, for drift the commits over which the level rose, less the
 * change expected of each commit.
 */
int trend_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err);
/** Write one line for users. Shape: out[size]. */
void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size);

/* ---- trend_alert: The alert of a loss found in the history. ---- */

/** Open or update the alert of a confirmed loss and set its id in `c`. Writes nothing if the alert holds the loss already. */
int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err);

/* ---- trend_end: Drift in the history, and recovery from its losses. Inside the judge's transaction. ---- */

/**
 * Check whether a cell lost more since its period's first reference commit than its threshold plus the expected loss (reported
 * steps, and drift that users answered for). Drift is reported once; its open alert follows the loss, and the range as refined
 * by the eight points after the report.
 */
int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err);

#endif
