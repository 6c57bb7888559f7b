/**
 * memory.h - what is remembered of a cell's runs beside those of the comparison at hand: where the two contradict each other, the
 * runs at hand are believed. Pure.
 */
#ifndef CORE_STATS_MEMORY_H
#define CORE_STATS_MEMORY_H

#include "core/stats/stats.h"

/**
 * Whether runs noise as a cell is remembered to: `tau0` (log ratio) seen in `nu0` degrees of freedom. False where chance explains the
 * difference of the two variances less than once in a thousand (F test inside sets, two-sided), whichever is the larger. Too few runs, or
 * nothing remembered, contradict nothing. Shape: e[n].
 */
bool memory_fits(double tau0, double nu0, const struct run_estimate *e, int n);

/** The rule of one cell for these runs: with what is remembered of it, or, where they contradict that, the general one. */
struct rule memory_rule(const struct rule *general, double tau0, double nu0, const struct run_estimate *e, int n);

#endif
