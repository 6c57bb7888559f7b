/** median.h - median of values. Pure. */
#ifndef STATS_MEDIAN_H
#define STATS_MEDIAN_H

/** Return the median of `v`, sorting it; for an even number the mean of the two middle values. Shape: v[n], 0 < n. */
double median_of(double *v, int n);

#endif
