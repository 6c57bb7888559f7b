/** culprit.h - the commits that a change point of the history points to. */
#ifndef FLOPWATCHD_HISTORY_CULPRIT_H
#define FLOPWATCHD_HISTORY_CULPRIT_H

#include "lib/buf.h"
#include "flopwatchd/history/change.h"

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
int trend_name(const struct trend *t, const struct store_change *c, const struct trend_range *range, struct buf *out,
	struct fw_err *err);
/** Write one line for users. Shape: out[size]. */
void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size);

/** Find open drift of another cell of this repository: its commit, so that one alert covers all. 1, 0, -1. Shape: sha[65]. */
int trend_name_open_drift(const struct trend *t, const struct store_change *c, char *sha, struct fw_err *err);

#endif
