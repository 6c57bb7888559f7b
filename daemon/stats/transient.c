/* transient.c - cut of a process's start by medians. */
#include "stats/stats.h"

#include <math.h>

enum { CALLS_MIN = 8 };

#define SEPARATE  4.0 /* standard errors of a difference of medians */
#define MAD_SD    1.4826
#define MEDIAN_SE 1.2533
#define LEAST     1e-3 /* of the median: lower bound of the difference between calls */

/* Shape: scratch[n] is overwritten. */
static double median(const double *v, int n, double *scratch)
{
	memcpy(scratch, v, (size_t)n * sizeof *v);
	return median_of(scratch, n);
}

/* Standard error of the median, from differences of neighbours: a trend is no noise. */
static double error_of(const double *v, int n, double middle, double *scratch)
{
	double *separate = scratch + n;

	for (int i = 0; i + 1 < n; i++)
		separate[i] = fabs(v[i + 1] - v[i]);
	return fmax(MEDIAN_SE * MAD_SD / M_SQRT2 * median(separate, n - 1, scratch) / sqrt(n), LEAST * middle);
}

static bool is_stable(const double *v, int n, double *scratch)
{
	int half = n / 2;
	double first = median(v, half, scratch), second = median(v + half, n - half, scratch);

	return fabs(first - second) <=
	       SEPARATE * hypot(error_of(v, half, first, scratch), error_of(v + half, n - half, second, scratch));
}

double transient_median(const double *ms, int n, int *cut)
{
	double *scratch = malloc(2 * (size_t)n * sizeof *scratch), middle;
	int from = 0;

	if (cut)
		*cut = 0;
	if (!scratch)
		return ms[0];
	while (n - from >= CALLS_MIN && !is_stable(ms + from, n - from, scratch)) {
		int next = from + (n - from) / 4;

		if (next > n / 2)
			break;
		from = next;
	}
	middle = median(ms + from, n - from, scratch);
	free(scratch);
	if (cut)
		*cut = from;
	return middle;
}
