/**
 * rise.h - between which points a series rose from one level to another, at once or bit by bit. Pure.
 *
 * A single point varies by as much as a commit of drift loses, so a range of two points that differ by enough begins and ends where
 * the noise happens to. This looks at all points: those before the range lie at one level, those after it at another.
 */
#ifndef CORE_STATS_RISE_H
#define CORE_STATS_RISE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stats/changepoint.h"

struct rise {
	int from, to; /* the last point before it, the first one after it */
	double step;  /* what it holds: the level after less the level before, or nearly all of that */
};

/**
 * The range that leaves the least distance from the median of the points up to `from`, the median of those from `to` on, and between
 * them from a straight line or, where that is shorter although it costs three varies and one a point, from what falls nowhere: drift
 * that paused. Its levels lie at least `least` apart. Of what falls nowhere it is those commits that hold 85 % of it, where they are
 * half of them or fewer. False: there is none. Shape: x[n], place[n] rising; n <= CHANGEPOINT_POINTS_MAX.
 */
bool rise_find(const double *x, const int64_t *place, int n, double least, struct rise *out);

#endif
