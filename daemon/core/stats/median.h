/** median.h - median of values. Pure. */
#ifndef CORE_STATS_MEDIAN_H
#define CORE_STATS_MEDIAN_H

/** Return the median of `v`, sorting it; for an even number the mean of the two middle values. Shape: v[n], 0 < n. */
double median_of(double *v, int n);

#endif
