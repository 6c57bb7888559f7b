/** transient.h - warm-up of a process timed from its start: caches, clocks and pools. Pure. */
#ifndef STATS_TRANSIENT_H
#define STATS_TRANSIENT_H

/**
 * Return the median of the calls of one process after its warm-up: while the first half of the rest differs from the second by
 * more than their noise, a quarter of it is cut; at least half of all calls stay. Fewer than 8 calls all count. Shape: ms[n] in
 * the order of the calls, n >= 1. `cut`: number of cut calls; may be NULL.
 */
double transient_median(const double *ms, int n, int *cut);

#endif
