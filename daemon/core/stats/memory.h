/**
 * memory.h - what is remembered of a cell's launches beside those of the comparison at hand: where the two contradict each other, the
 * launches at hand are believed. Pure.
 */
#ifndef CORE_STATS_MEMORY_H
#define CORE_STATS_MEMORY_H

#include "core/stats/stats.h"

/**
 * Whether launches noise as a cell is remembered to: `tau0` (log ratio) seen in `nu0` degrees of freedom. False where chance explains the
 * difference of the two variances less than once in a thousand (F test inside sets, two-sided), whichever is the larger. Too few launches, or
 * nothing remembered, contradict nothing. Shape: e[n].
 */
bool memory_fits(double tau0, double nu0, const struct launch_estimate *e, int n);

/** The rule of one cell for these launches: with what is remembered of it, or, where they contradict that, the general one. */
struct rule memory_rule(const struct rule *general, double tau0, double nu0, const struct launch_estimate *e, int n);

#endif
