/* rise.c - fits of a rise by a line and by isotonic regression. */
#include "stats/stats.h"

#include <math.h>

#define FREE_COST    3    /* in points, of a rise of any shape: a step must not be followed into its noise */
#define NARROW_HOLDS 0.85 /* share of such a rise: the uncertainty of a known step resembles a pause and a small rise */

struct side {
	double level, left; /* sum of distances from it */
};

static double left_by_line(const double *x, const int64_t *position, int from, int to, double low, double high)
{
	double left = 0, slope = (high - low) / (double)(position[to] - position[from]);
	for (int i = from + 1; i < to; i++)
		left += fabs(x[i] - low - slope * (double)(position[i] - position[from]));
	return left;
}

/** Isotonic regression (falling neighbours are pooled), within two levels. Shape: x[n], fit[n]. */
static void any_rise(const double *x, int n, double low, double high, double *fit)
{
	double mean[CHANGEPOINT_POINTS_MAX];
	int size[CHANGEPOINT_POINTS_MAX], blocks = 0;
	for (int i = 0; i < n; i++) {
		mean[blocks] = x[i];
		size[blocks++] = 1;
		for (; blocks > 1 && mean[blocks - 2] > mean[blocks - 1]; blocks--) {
			int before = size[blocks - 2], last = size[blocks - 1];
			mean[blocks - 2] = (mean[blocks - 2] * before + mean[blocks - 1] * last) / (before + last);
			size[blocks - 2] = before + last;
		}
	}
	for (int b = 0, i = 0; b < blocks; b++)
		for (int end = i + size[b]; i < end; i++)
			fit[i] = fmin(high, fmax(low, mean[b]));
}

static double left_by_any_rise(const double *x, int n, double low, double high)
{
	double fit[CHANGEPOINT_POINTS_MAX], left = 0;
	any_rise(x, n, low, high, fit);
	for (int i = 0; i < n; i++)
		left += fabs(x[i] - fit[i]);
	return left;
}

/** Find the fewest commits that contain nearly all of a rise, at most half of all; among equal numbers those with most of it. */
static void narrow(const double *x, const int64_t *position, double low, double high, struct rise *r)
{
	double fit[CHANGEPOINT_POINTS_MAX];
	struct rise best = *r;
	int first = r->from, n = r->to - first + 1;
	int64_t all = position[r->to] - position[first], fewest = all;
	fit[0] = low;
	any_rise(x + first + 1, n - 2, low, high, fit + 1);
	fit[n - 1] = high;
	for (int from = 0; from < n; from++)
		for (int to = from + 1; to < n; to++) {
			int64_t commits = position[first + to] - position[first + from];
			double step = fit[to] - fit[from];
			bool is_better = commits < fewest || (commits == fewest && step > best.step);
			if (step < NARROW_HOLDS * (high - low) || !is_better)
				continue;
			fewest = commits;
			best = (struct rise){ .from = first + from, .to = first + to, .step = step };
		}
	if (2 * fewest <= all)
		*r = best;
}

bool rise_find(const double *x, const int64_t *position, int n, double least, struct rise *out)
{
	struct side before[CHANGEPOINT_POINTS_MAX], after[CHANGEPOINT_POINTS_MAX];
	double noise = changepoint_noise(x, n), best = INFINITY;
	bool is_free = false;
	for (int i = 0; i < n; i++) {
		before[i].left = changepoint_unexplained(x, i + 1, &before[i].level);
		after[i].left = changepoint_unexplained(x + i, n - i, &after[i].level);
	}
	for (int from = n - 2; from >= 0; from--)
		for (int to = from + 1; to < n; to++) {
			double low = before[from].level, high = after[to].level;
			if (high - low < least)
				continue;
			double line = left_by_line(x, position, from, to, low, high), price = noise * (to - from - 1 + FREE_COST);
			double any = line > price ? price + left_by_any_rise(x + from + 1, to - from - 1, low, high) : INFINITY;
			double left = before[from].left + after[to].left + fmin(line, any);
			if (left < best) {
				best = left;
				is_free = any < line;
				*out = (struct rise){ .from = from, .to = to, .step = high - low };
			}
		}
	if (is_free)
		narrow(x, position, before[out->from].level, after[out->to].level, out);
	return isfinite(best);
}
