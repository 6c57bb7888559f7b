/** plan.h - plan of an interleaved session: cells, pairs, warm-up calls. Pure. */
#ifndef PROTOCOL_PLAN_H
#define PROTOCOL_PLAN_H

#include <stdbool.h>

enum {
	INTERLEAVE_SIDES_MAX = 3,
	INTERLEAVE_PAIRS_MIN = 8,
	INTERLEAVE_PAIRS = 60 /* default */,
	INTERLEAVE_PAIRS_FIRST = 20 /* before the first run */
};

struct interleave_order {
	int n;
	const int *cell;
};

/**
 * Find the longest chain of wanted cells that every side reaches in the same order: the cells of one session. Empty only if no
 * wanted cell exists on all sides. Shape: side[n_sides], wanted[n_cells], out[n_cells]. Returns their number; -1 out of memory.
 */
int interleave_chain(const struct interleave_order *side, int n_sides, const bool *wanted, int n_cells, int *out);

/** Return the untimed calls before each timed call of a cell: 1, 0 for long ones. Units: ms of a call. */
int interleave_warm(double call_ms);
/** Return the time limit for pairs of a cell in a session of `n_cells` cells with `most` pairs each; 0: INTERLEAVE_PAIRS. */
double interleave_budget_ms(int n_cells, int most);
/**
 * Return the pairs of a cell in one session of `n_cells` cells, a multiple of four from 8 to `most`; 0: INTERLEAVE_PAIRS.
 * Units: ms of all turns of a pair.
 */
int interleave_pairs(double pair_ms, int n_cells, int most);

/** Cost of a cell's runs, and noise of its pairs. Starts zeroed. */
struct interleave_cost {
	int runs, pairs;
	double pairs_s, others_s; /* over all runs: time of pairs, and this cell's share of the other time */
	double variance;          /* sum over runs, of the log ratio of a pair */
};
/** Add a run of `n` pairs. Shape: base_ms[n], target_ms[n], > 0. Fewer than four pairs are ignored. */
void interleave_cost_add(
	struct interleave_cost *c, int n, double pairs_s, double others_s, const float *base_ms, const float *target_ms);
/**
 * Return the pairs of the next run: sqrt(c_run / c_pair) sd_pair / tau, a multiple of four from 8 to 60 and at most `most`, so
 * that device time goes into runs if runs are noisy by `tau` (log ratio, > 0) and into pairs if pairs are.
 * INTERLEAVE_PAIRS_FIRST before the first run.
 */
int interleave_pairs_wanted(const struct interleave_cost *c, double tau, int most);

#endif
