/**
 * changepoint.h - steps and drift in a series of log time ratios against one reference commit build. Pure: no I/O, no clock, no state.
 *
 * A point is the log ratio of one commit's time to the reference commit's: 0.01 is 1 % slower. Ratios taken side by side carry no day and no
 * temperature, so a robust scan over all splits finds a step of one percent within two points and stays silent for tens of
 * thousands. What it finds is a candidate: the caller has the two commits compared directly before he believes it.
 */
#ifndef CORE_STATS_CHANGEPOINT_H
#define CORE_STATS_CHANGEPOINT_H

#include <stdbool.h>

enum {
	CHANGEPOINT_POINTS_MAX = 60, /* looked at: the last ones since the last accepted change */
	CHANGEPOINT_LEFT_MIN = 8,    /* points that a level needs before a step ... */
	CHANGEPOINT_RIGHT_MIN = 3,   /* ... and after it */
	CHANGEPOINT_PAIRS = 3        /* neighbours compared directly for a candidate */
};

#define CHANGEPOINT_STEP_MIN 0.003 /* steps below are not worth a verification */
#define CHANGEPOINT_LIMIT    6.0   /* of the statistic */
#define CHANGEPOINT_FAR      0.05  /* from its reference commit a series needs a nearer one */

struct changepoint {
	int at;      /* index of the first point of the new level */
	double step; /* new level less old one, log ratio; positive = slower */
	double t;    /* the statistic: the largest step of any split in units of its standard error */
};

/** Noise of single points: 1.4826 median |x[i] - x[i-1]| / sqrt 2, at least 0.05 %. Shape: x[n], in the order of commits. */
double changepoint_noise(const double *x, int n);

/** Sum of distances from the median, which `level` gets: what one level leaves unexplained. Shape: x[n], 0 < n <= CHANGEPOINT_POINTS_MAX. */
double changepoint_unexplained(const double *x, int n, double *level);

/**
 * Whether the newest point lies so far (4 varies) both from the median of the 20 before it and from its neighbour that it should
 * be measured again: a commit beside it that has the same value has measured it already.
 */
bool changepoint_is_odd(const double *x, int n);

/**
 * Whether there is a step: some split's statistic passes CHANGEPOINT_LIMIT, and its place is the split that leaves the least
 * distance from two medians. Levels are means of values clipped to 1.5 varies around their segment's median. A place with too
 * few points after it waits for more. Only the last CHANGEPOINT_POINTS_MAX points count. Shape: x[n]. A slope has two levels, too:
 * candidate.h says which steps are worth a comparison.
 */
bool changepoint_find(const double *x, int n, struct changepoint *out);

/**
 * New level less old one where the series is split at `at`, each of the 12 points next to it or as many as there are, so that a slope
 * further away is no part of it; 0 where a side is empty. Shape: x[n], 0 < at < n.
 */
double changepoint_step(const double *x, int n, int at);

/** Which neighbours are compared directly in attempt `tried`: where the first of them stands, counted from the candidate. */
int changepoint_pair(int tried);

/**
 * Whether two neighbours show the step that the series has between them: their log ratio `m`, three standard errors taken off, is
 * more than half of it. Where many commits lost a little each, the levels lie further apart than any two neighbours.
 */
bool changepoint_confirms(double step, double m, double se);

/**
 * Whether the newest points show a loss above `theta` (log ratio) since the reference commit: the level of the last 5, 8, 12 or 20, three
 * standard errors taken off, where the very last point is not well below it. `loss` gets that level.
 */
bool changepoint_drift(const double *x, int n, double theta, double *loss);

/** Whether the points from `since` on lie below `limit`: the level of the last 3, 5 or 8 of them, three standard errors added. */
bool changepoint_is_below(const double *x, int n, int since, double limit);

/** Mean of the newest points (8, or as many as there are), clipped as levels are; NAN without any. */
double changepoint_level(const double *x, int n);

/** Whether the last five points all lie further than CHANGEPOINT_FAR from `reference commit`, where the reference commit lies in this series. */
bool changepoint_is_far(const double *x, int n, double reference);

#endif
