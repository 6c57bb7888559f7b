/**
 * memory.h - learned noise of a cell's runs against that of the current comparison: if they contradict each other, the current
 * runs count. Pure.
 */
#ifndef STATS_MEMORY_H
#define STATS_MEMORY_H

#include "stats/stats.h"

/**
 * Return whether runs are as noisy as learned: `tau0` (log ratio) with `nu0` degrees of freedom. False if chance explains the
 * difference of the two variances less than once in a thousand (F test within sets, two-sided), whichever is larger. Too few
 * runs, or no learned noise, contradict nothing. Shape: e[n].
 */
bool memory_fits(double tau0, double nu0, const struct run_estimate *e, int n);

/** Return the rule of one cell for these runs: with its learned noise, or the general one if they contradict that. */
struct rule memory_rule(const struct rule *general, double tau0, double nu0, const struct run_estimate *e, int n);

#endif
