/*
 * changepoint.c - a scan over all splits with robust levels. An outlier changes neither the noise (a median of differences) nor
 * a level (clipped around a median), so isolated bad points trigger nothing.
 */
#include "stats/stats.h"

#include <math.h>

enum { ODD_MIN = 12, ODD_BEFORE = 20, FAR_POINTS = 5, STEP_POINTS = 12 };

#define NOISE_MIN      0.0005
#define MAD_TO_SD      1.4826
#define ODD_NOISES     4.0
#define CLIP_NOISES    1.5
#define CONFIRM_ERRORS 3.0
#define LEVEL_ERRORS   3.0

/* Shape: v[n], 0 < n <= CHANGEPOINT_POINTS_MAX; not changed. */
static double median(const double *v, int n)
{
	double sorted[CHANGEPOINT_POINTS_MAX];

	memcpy(sorted, v, (size_t)n * sizeof *v);
	return median_of(sorted, n);
}

static const double *newest(const double *x, int *n)
{
	int skipped = *n > CHANGEPOINT_POINTS_MAX ? *n - CHANGEPOINT_POINTS_MAX : 0;

	*n -= skipped;
	return x + skipped;
}

double changepoint_noise(const double *x, int n)
{
	double moves[CHANGEPOINT_POINTS_MAX];

	x = newest(x, &n);
	for (int i = 1; i < n; i++)
		moves[i - 1] = fabs(x[i] - x[i - 1]);
	return n < 2 ? NOISE_MIN : fmax(NOISE_MIN, MAD_TO_SD * median(moves, n - 1) / sqrt(2));
}

bool changepoint_is_odd(const double *x, int n)
{
	x = newest(x, &n);
	if (n < ODD_MIN)
		return false;
	int before = n - 1 < ODD_BEFORE ? n - 1 : ODD_BEFORE;
	double limit = ODD_NOISES * changepoint_noise(x, n);

	return fabs(x[n - 1] - median(x + n - 1 - before, before)) > limit && fabs(x[n - 1] - x[n - 2]) > limit;
}

static double level(const double *x, int n, double noise)
{
	double middle = median(x, n), sum = 0;

	for (int i = 0; i < n; i++)
		sum += fmin(middle + CLIP_NOISES * noise, fmax(middle - CLIP_NOISES * noise, x[i]));
	return sum / n;
}

double changepoint_unexplained(const double *x, int n, double *level)
{
	double sum = 0;

	*level = median(x, n);
	for (int i = 0; i < n; i++)
		sum += fabs(x[i] - *level);
	return sum;
}

/*
 * Clipped levels barely react to a few points of the old level in the new one, so the statistic peaks early; the residual does
 * not.
 */
static int best_position(const double *x, int n)
{
	double least = INFINITY;
	int position = -1;

	for (int i = CHANGEPOINT_LEFT_MIN; i < n; i++) {
		double before, after;
		double left = changepoint_unexplained(x, i, &before) + changepoint_unexplained(x + i, n - i, &after);

		if (left < least) {
			least = left;
			position = i;
		}
	}
	return position;
}

double changepoint_step(const double *x, int n, int at)
{
	int given = n;

	x = newest(x, &n);
	at -= given - n;
	if (at < 1 || at >= n)
		return 0;
	double noise = changepoint_noise(x, n);
	int before = at < STEP_POINTS ? at : STEP_POINTS, after = n - at < STEP_POINTS ? n - at : STEP_POINTS;

	return level(x + at, after, noise) - level(x + at - before, before, noise);
}

bool changepoint_find(const double *x, int n, struct changepoint *out)
{
	const double *first = x;

	x = newest(x, &n);
	double noise = changepoint_noise(x, n);

	*out = (struct changepoint){ .at = -1 };
	for (int i = CHANGEPOINT_LEFT_MIN; i <= n - CHANGEPOINT_RIGHT_MIN; i++) {
		double step = level(x + i, n - i, noise) - level(x, i, noise);
		double t = fabs(step) / (noise * sqrt(1.0 / i + 1.0 / (n - i)));

		if (fabs(step) >= CHANGEPOINT_STEP_MIN)
			out->t = fmax(out->t, t);
	}
	if (out->t <= CHANGEPOINT_LIMIT)
		return false;
	int position = best_position(x, n);

	out->at = position + (int)(x - first);
	out->step = changepoint_step(x, n, position);
	return position <= n - CHANGEPOINT_RIGHT_MIN;
}

int changepoint_pair(int tried)
{
	static const int offset[CHANGEPOINT_PAIRS] = { -1, -2, 0 };

	return offset[tried];
}

bool changepoint_confirms(double step, double m, double se)
{
	double seen = step > 0 ? m : -m;

	return seen >= CHANGEPOINT_STEP_MIN && seen - CONFIRM_ERRORS * se > fabs(step) / 2;
}

/* Level of the newest `w` points; its standard error is noise / sqrt(w). */
static double newest_level(const double *x, int n, int w, double noise)
{
	return level(x + n - w, w, noise);
}

bool changepoint_drift(const double *x, int n, double theta, double *slowdown)
{
	static const int windows[] = { 5, 8, 12, 20 };
	double noise = changepoint_noise(x, n);

	*slowdown = 0;
	if (n < 1 || x[n - 1] <= theta - LEVEL_ERRORS * noise) /* a later commit has fixed the level */
		return false;
	for (size_t i = 0; i < sizeof windows / sizeof *windows && windows[i] <= n; i++) {
		*slowdown = newest_level(x, n, windows[i], noise);
		if (*slowdown - LEVEL_ERRORS * noise / sqrt(windows[i]) > theta)
			return true;
	}
	return false;
}

bool changepoint_is_below(const double *x, int n, int since, double limit)
{
	static const int windows[] = { 3, 5, 8 };
	double noise = changepoint_noise(x, n);

	for (size_t i = 0; i < sizeof windows / sizeof *windows && windows[i] <= n - since; i++)
		if (newest_level(x, n, windows[i], noise) + LEVEL_ERRORS * noise / sqrt(windows[i]) < limit)
			return true;
	return false;
}

double changepoint_level(const double *x, int n)
{
	int w = n < CHANGEPOINT_LEFT_MIN ? n : CHANGEPOINT_LEFT_MIN;

	return n < 1 ? NAN : newest_level(x, n, w, changepoint_noise(x, n));
}

bool changepoint_is_far(const double *x, int n, double reference)
{
	for (int i = n - FAR_POINTS; i < n; i++)
		if (i < 0 || fabs(x[i] - reference) <= CHANGEPOINT_FAR)
			return false;
	return true;
}
