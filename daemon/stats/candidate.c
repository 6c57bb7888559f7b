/* candidate.c - residuals of two levels, compared with those of a line and of a straight rise. */
#include "stats/stats.h"

#include <math.h>

enum { NEWEST = 16, RISE_MIN = 4, MANY = 24 /* from this number of points on, a wrong line leaves enough residual */ };

#define SHARE_OF_LINE       0.7
#define SHARE_OF_LINE_FEW   0.55
#define SHARE_OF_RISE       0.8
#define SHARE_OF_LINE_SMALL 0.8 /* for a small step with even levels */
#define SMALL_NOISES        3.5
#define EVEN                1.1
#define NORMAL_DISTANCE     0.798 /* mean absolute deviation of a normal value, in standard deviations */
#define JUMP_NOISES         5.0   /* 3.5 standard deviations of the difference of neighbours */
#define LARGER              1.5
#define PAIR_NOISES         1.0
#define CLEAR_NOISES        5.0

static double left_by_levels(const double *x, int n, int at)
{
	double before, after;
	return changepoint_unexplained(x, at, &before) + changepoint_unexplained(x + at, n - at, &after);
}

/**
 * Theil's line: its slope is the median of the slopes between all pairs of points. Shape: x[n], n <= CHANGEPOINT_POINTS_MAX.
 */
static double left_by_line(const double *x, int n)
{
	double slope[CHANGEPOINT_POINTS_MAX * (CHANGEPOINT_POINTS_MAX - 1) / 2], rest[CHANGEPOINT_POINTS_MAX], level;
	int pairs = 0;
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			slope[pairs++] = (x[k] - x[i]) / (k - i);
	double middle = median_of(slope, pairs);
	for (int i = 0; i < n; i++)
		rest[i] = x[i] - middle * i;
	return changepoint_unexplained(rest, n, &level);
}

/** Least residual of two levels with a straight rise of RISE_MIN or more commits between them, which contains `at`. */
static double left_by_rise(const double *x, int n, int at)
{
	double least = INFINITY;
	for (int from = at > CANDIDATE_NEAR ? at - CANDIDATE_NEAR : 0; from < at; from++) {
		double low, before = changepoint_unexplained(x, from + 1, &low);
		for (int to = from + RISE_MIN > at ? from + RISE_MIN : at; to < n && to < at + CANDIDATE_NEAR; to++) {
			double high, left = before + changepoint_unexplained(x + to, n - to, &high);
			for (int i = from + 1; i < to; i++)
				left += fabs(x[i] - low - (high - low) * (i - from) / (to - from));
			least = fmin(least, left);
		}
	}
	return least;
}

static bool is_step_nearby(const double *x, int n, int at)
{
	int from = at > CANDIDATE_NEAR ? at - CANDIDATE_NEAR : 0, to = at + CANDIDATE_NEAR < n ? at + CANDIDATE_NEAR : n;
	double t = fabs(changepoint_step(x, n, at)) / (changepoint_noise(x, n) * sqrt(1.0 / (at - from) + 1.0 / (to - at)));
	return t > CHANGEPOINT_LIMIT &&
	       left_by_levels(x + from, to - from, at - from) < SHARE_OF_LINE_FEW * left_by_line(x + from, to - from);
}

/** True if two neighbours at `at` differ by about the step: levels that drifted have no such pair. */
static bool has_jump(const double *x, int n, int at)
{
	double step = changepoint_step(x, n, at), most = -INFINITY;
	for (int i = at > 1 ? at - 1 : 1; i <= at + 1 && i < n; i++)
		most = fmax(most, step > 0 ? x[i] - x[i - 1] : x[i - 1] - x[i]);
	return most > fabs(step) - JUMP_NOISES * changepoint_noise(x, n);
}

/**
 * True if the step has the size of single points' noise, and its levels leave no more than that noise. A line leaves little more,
 * so its share is no evidence for such a step; drifting noise leaves more.
 */
static bool is_small_and_even(const double *x, int n, int at, double left, double line)
{
	double noise = changepoint_noise(x, n);
	return n >= MANY && fabs(changepoint_step(x, n, at)) < SMALL_NOISES * noise &&
	       left < EVEN * NORMAL_DISTANCE * n * noise && left < SHARE_OF_LINE_SMALL * line;
}

static bool is_step(const double *x, int n, int at)
{
	double left = left_by_levels(x, n, at), line = left_by_line(x, n);
	double share = n < MANY ? SHARE_OF_LINE_FEW : SHARE_OF_LINE;
	bool is_better = left < share * line || is_small_and_even(x, n, at, left, line) || is_step_nearby(x, n, at);
	return is_better && has_jump(x, n, at) && left_by_rise(x, n, at) >= SHARE_OF_RISE * left;
}

static bool is_paused(const struct candidate_past *past, int points, double step)
{
	if (past->n == 0 || fabs(step) > LARGER * past->step)
		return false;
	int pause = CANDIDATE_PAUSE;
	for (int i = 1; i < past->n && pause < CANDIDATE_PAUSE_MAX; i++)
		pause *= 2;
	return points - past->points < (pause < CANDIDATE_PAUSE_MAX ? pause : CANDIDATE_PAUSE_MAX);
}

static bool find_in_all(const double *x, int n, struct changepoint *out)
{
	if (!changepoint_find(x, n, out) || !is_step(x, n, out->at))
		return false;
	out->step = changepoint_step(x, n, out->at);
	return true;
}

/** Find a step on top of a slope: the slope separates the levels of the whole series, and elsewhere. */
static bool find_in_newest(const double *x, int n, struct changepoint *out)
{
	int skipped = n - NEWEST;
	double least = CLEAR_NOISES * changepoint_noise(x, n);
	if (skipped < 0 || !changepoint_find(x + skipped, NEWEST, out) || !is_step(x + skipped, NEWEST, out->at))
		return false;
	out->step = changepoint_step(x + skipped, NEWEST, out->at);
	out->at += skipped;
	return fabs(out->step) > least;
}

bool candidate_find(const double *x, int n, int points, const struct candidate_past *past, struct changepoint *out)
{
	int skipped = n > CHANGEPOINT_POINTS_MAX ? n - CHANGEPOINT_POINTS_MAX : 0;
	x += skipped;
	n -= skipped;
	if (!find_in_all(x, n, out) && !find_in_newest(x, n, out))
		return false;
	out->at += skipped;
	return !is_paused(past, points, out->step);
}

bool candidate_pair(const double *x, int n, int at, int tried, int *first)
{
	int skipped = n > CHANGEPOINT_POINTS_MAX ? n - CHANGEPOINT_POINTS_MAX : 0;
	*first = at + changepoint_pair(tried);
	x += skipped;
	n -= skipped;
	at -= skipped;
	int split = *first + 1 - skipped;
	if (at < 1 || at >= n || split < 1 || split > n - CHANGEPOINT_RIGHT_MIN)
		return false;
	return left_by_levels(x, n, split) <= left_by_levels(x, n, at) + PAIR_NOISES * changepoint_noise(x, n);
}
