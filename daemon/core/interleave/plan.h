/** plan.h - how a session of turns is cut: which cells, how many pairs, how many warm calls. Pure. */
#ifndef CORE_INTERLEAVE_PLAN_H
#define CORE_INTERLEAVE_PLAN_H

#include <stdbool.h>

enum {
	INTERLEAVE_SIDES_MAX = 3,
	INTERLEAVE_PAIRS_MIN = 8,
	INTERLEAVE_PAIRS = 60 /* where nobody asks for others */,
	INTERLEAVE_PAIRS_FIRST = 20 /* before anything is known */
};

/** The cells of a side in the order in which it comes to them, each once. */
struct interleave_order {
	int n;
	const int *cell;
};

/**
 * The most of the wanted cells that every side comes to in the same order: what one session can pair. Empty only where no cell is wanted
 * that all sides have. Shape: side[n_sides], wanted[n_cells], out[n_cells]. Returns how many; -1 out of memory.
 */
int interleave_chain(const struct interleave_order *side, int n_sides, const bool *wanted, int n_cells, int *out);

/** Calls of a cell that are not timed before each one that is: 1, 0 for long ones. Units: ms of a call. */
int interleave_warm(double call_ms);
/** What pairs of a cell may take in one session of `n_cells` cells, where a cell has `most` pairs; 0: INTERLEAVE_PAIRS of them. */
double interleave_budget_ms(int n_cells, int most);
/** Pairs of a cell in one session of `n_cells` cells, a multiple of four from 8 to `most`; 0: INTERLEAVE_PAIRS. Units: ms of all turns of a pair. */
int interleave_pairs(double pair_ms, int n_cells, int most);

/** What runs of a cell cost, and how its pairs noise. Starts zeroed. */
struct interleave_cost {
	int runs, pairs;
	double pairs_s, others_s; /* of all runs: their pairs, and all else of a run that is this cell's part */
	double variance;          /* sum over runs, of the log ratio of a pair */
};
/** Add a run of `n` pairs. Shape: base_ms[n], target_ms[n], > 0. Fewer than four pairs say nothing. */
void interleave_cost_add(
	struct interleave_cost *c, int n, double pairs_s, double others_s, const float *base_ms, const float *target_ms);
/**
 * Pairs of the next run: sqrt(c_run / c_pair) sd_pair / tau, a multiple of four from 8 to 60 and at most `most`, so that device time goes into
 * runs where those noise by `tau` (log ratio, > 0) and into pairs where these do. INTERLEAVE_PAIRS_FIRST before the first run.
 */
int interleave_pairs_wanted(const struct interleave_cost *c, double tau, int most);

#endif
