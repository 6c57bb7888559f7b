/** plan.h - how a session of turns is cut: which cells, how many pairs, how many warm calls. Pure. */
#ifndef CORE_TURNS_PLAN_H
#define CORE_TURNS_PLAN_H

#include <stdbool.h>

enum { TURNS_SIDES_MAX = 3, TURNS_PAIRS_MIN = 8, TURNS_PAIRS = 60 /* where nobody asks for others */ };

/** The cells of a side in the order in which it comes to them, each once. */
struct turns_order {
	int n;
	const int *cell;
};

/**
 * The most of the wanted cells that every side comes to in the same order: what one session can pair. Empty only where no cell is wanted
 * that all sides have. Shape: side[n_sides], wanted[n_cells], out[n_cells]. Returns how many; -1 out of memory.
 */
int turns_chain(const struct turns_order *side, int n_sides, const bool *wanted, int n_cells, int *out);

/** Calls of a cell that are not timed before each one that is: 1, 0 for long ones. Units: ms of a call. */
int turns_warm(double call_ms);
/** What pairs of a cell may take in one session of `n_cells` cells, where a cell has `most` pairs; 0: TURNS_PAIRS of them. */
double turns_budget_ms(int n_cells, int most);
/** Pairs of a cell in one session of `n_cells` cells, a multiple of four from 8 to `most`; 0: TURNS_PAIRS. Units: ms of all turns of a pair. */
int turns_pairs(double pair_ms, int n_cells, int most);

#endif
