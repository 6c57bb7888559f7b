/** culprit.h - which commits a change point of the history accuses. */
#ifndef FLOPWATCHD_HISTORY_CULPRIT_H
#define FLOPWATCHD_HISTORY_CULPRIT_H

#include "base/buf.h"
#include "flopwatchd/history/change.h"

/** Commits of the upstream branch between which a loss came. */
struct trend_range {
	char from[65], to[65]; /* "": none holds it */
	int commits;           /* after `from` up to `to` */
	int unmeasured;        /* of them, without a point in the series: nobody measured them, or nobody could */
	bool is_whole;         /* `to` is the next point after `from`: whatever lies between holds the loss alone */
	double change_pct;
};

/**
 * Of a step the commits from the old level to the new one, of drift those over which the level rose, what is expected of each commit
 * taken out.
 */
int trend_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err);
/** Append an alert's culprits. */
int trend_name(const struct trend *t, const struct store_change *c, const struct trend_range *range, struct buf *out,
	struct fw_err *err);
/** One line for people. Shape: out[size]. */
void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size);

/** Drift of another cell that is open already on this repository: its commit, so that one alert holds all. 1, 0, -1. Shape: sha[65]. */
int trend_name_open_drift(const struct trend *t, const struct store_change *c, char *sha, struct fw_err *err);

#endif
