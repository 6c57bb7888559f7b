/** transient.h - a process that is timed from its start: caches, clocks and pools settle first. Pure. */
#ifndef CORE_STATS_TRANSIENT_H
#define CORE_STATS_TRANSIENT_H

/**
 * Median of the calls of one process after what it takes to settle: while the first half of what is left differs from the second by more than
 * they noise, a quarter of it is left out; at least half of all calls stay. Few calls (below 8) are taken as they are.
 * Shape: ms[n] in the order of the calls, n >= 1. `cut` how many were left out; NULL: not asked.
 */
double transient_median(const double *ms, int n, int *cut);

#endif
