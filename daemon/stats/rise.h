/**
 * rise.h - the range of points over which a series rose from one level to another, at once or gradually. Pure.
 *
 * The noise of one point equals the loss of a commit under drift, so a range between two points that differ enough would depend
 * on noise. This uses all points: those before the range are at one level, those after it at another.
 */
#ifndef STATS_RISE_H
#define STATS_RISE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/changepoint.h"

struct rise {
	int from, to; /* the last point before it, the first one after it */
	double step;  /* its rise: the level after minus the level before, or nearly all of that */
};

/**
 * Find the range with the least distance from the median of the points up to `from`, the median of those from `to` on, and
 * between them from a straight line or, if that is shorter by more than three times the noise plus one per point, from a
 * monotone fit: drift that paused. Its levels differ by at least `least`. A monotone fit is reduced to the commits with 85 % of
 * its rise, if they are at most half of them. Returns false if there is none. Shape: x[n], place[n] ascending; n <=
 * CHANGEPOINT_POINTS_MAX.
 */
bool rise_find(const double *x, const int64_t *position, int n, double least, struct rise *out);

#endif
