/** median.h - the value in the middle. Pure. */
#ifndef CORE_STATS_MEDIAN_H
#define CORE_STATS_MEDIAN_H

/** Median of `v`, which is sorted by it; of an even number the mean of the two in the middle. Shape: v[n], 0 < n. */
double median_of(double *v, int n);

#endif
