/**
 * changepoint.h - steps and drift in a series of log time ratios against one build of the reference commit. Pure: no I/O, no
 * clock, no state.
 *
 * A point is the log ratio of one commit's time to the reference commit's: 0.01 is 1 % slower. Ratios taken side by side
 * contain no day and no temperature, so a robust scan over all splits finds a step of one percent within two points, and false
 * ones only every tens of thousands. A result is a candidate: the caller compares the two commits directly to confirm it.
 */
#ifndef STATS_CHANGEPOINT_H
#define STATS_CHANGEPOINT_H

#include <stdbool.h>

enum {
	CHANGEPOINT_POINTS_MAX = 60, /* window: the last points since the last accepted change */
	CHANGEPOINT_LEFT_MIN = 8,    /* points required before a step ... */
	CHANGEPOINT_RIGHT_MIN = 3,   /* ... and after it */
	CHANGEPOINT_PAIRS = 3        /* neighbours compared directly for a candidate */
};

#define CHANGEPOINT_STEP_MIN 0.003 /* smaller steps are not worth a verification */
#define CHANGEPOINT_LIMIT    6.0   /* of the statistic */
#define CHANGEPOINT_FAR      0.05  /* distance at which a series needs a nearer reference commit */

struct changepoint {
	int at;      /* index of the first point of the new level */
	double step; /* new level minus old one, log ratio; positive = slower */
	double t;    /* the statistic: the largest step of any split in units of its standard error */
};

/**
 * Return the noise of single points: 1.4826 median |x[i] - x[i-1]| / sqrt 2, at least 0.05 %. Shape: x[n], in the order of
 * commits.
 */
double changepoint_noise(const double *x, int n);

/** Return the sum of distances from the median, which `level` receives. Shape: x[n], 0 < n <= CHANGEPOINT_POINTS_MAX. */
double changepoint_unexplained(const double *x, int n, double *level);

/**
 * Return whether the newest point should be measured again: it differs by 4 times the noise from the median of the 20 before it
 * and from its neighbour. A neighbour with the same value already confirms it.
 */
bool changepoint_is_odd(const double *x, int n);

/**
 * Find a step: some split's statistic exceeds CHANGEPOINT_LIMIT, and its position is the split with the least distance from two
 * medians. Levels are means of values clipped to 1.5 times the noise around their segment's median. A position with too few
 * points after it waits for more. Only the last CHANGEPOINT_POINTS_MAX points count. Shape: x[n]. A slope has two levels, too:
 * candidate.h selects the steps worth a comparison.
 */
bool changepoint_find(const double *x, int n, struct changepoint *out);

/**
 * Return new level minus old one for a split at `at`, each from the 12 nearest points or as many as exist, so that a distant
 * slope is excluded; 0 if a side is empty. Shape: x[n], 0 < at < n.
 */
double changepoint_step(const double *x, int n, int at);

/** Return the offset of the first neighbour to compare directly in attempt `tried`, relative to the candidate. */
int changepoint_pair(int tried);

/**
 * Return whether two neighbours confirm the series' step: their log ratio `m`, minus three standard errors, exceeds half of it.
 * If many commits lost a little each, the levels differ by more than any two neighbours.
 */
bool changepoint_confirms(double step, double m, double se);

/**
 * Return whether the newest points show a loss above `theta` (log ratio) since the reference commit: the level of the last 5,
 * 8, 12 or 20, minus three standard errors, unless the very last point is well below it. `loss` receives that level.
 */
bool changepoint_drift(const double *x, int n, double theta, double *loss);

/**
 * Return whether the points from `since` on lie below `limit`: the level of the last 3, 5 or 8 of them, plus three standard
 * errors.
 */
bool changepoint_is_below(const double *x, int n, int since, double limit);

/** Return the mean of the newest points (8, or as many as exist), clipped like levels; NAN without any. */
double changepoint_level(const double *x, int n);

/**
 * Return whether the last five points all differ by more than CHANGEPOINT_FAR from `reference`, the reference commit's value in
 * this series.
 */
bool changepoint_is_far(const double *x, int n, double reference);

#endif
