/* plan.c - longest common sequence of cells, and number of pairs. */
#include "protocol/protocol.h"

#include <math.h>

#define WARM_BELOW_MS  20    /* a shorter call has a warm-up call */
#define CELL_BUDGET_MS 500   /* for all pairs of a cell */
#define ALL_BUDGET_MS  12000 /* for all pairs of a session */

enum { NOISE_RUNS_MIN = 3 }; /* with fewer runs their noise is not estimated */

/* Find the index of each cell in each side's order; -1: the side does not have it. Shape: position[n_sides][n_cells]. */
static void find_positions(const struct interleave_order *side, int n_sides, int n_cells, int *position)
{
	for (int i = 0; i < n_sides * n_cells; i++)
		position[i] = -1;
	for (int s = 0; s < n_sides; s++)
		for (int i = 0; i < side[s].n; i++)
			position[s * n_cells + side[s].cell[i]] = i;
}

static bool has_all(const int *position, int n_sides, int n_cells, int cell)
{
	for (int s = 0; s < n_sides; s++)
		if (position[s * n_cells + cell] < 0)
			return false;
	return true;
}

static bool comes_before(const int *position, int n_sides, int n_cells, int a, int b)
{
	for (int s = 0; s < n_sides; s++)
		if (position[s * n_cells + a] >= position[s * n_cells + b])
			return false;
	return true;
}

int interleave_chain(const struct interleave_order *side, int n_sides, const bool *wanted, int n_cells, int *out)
{
	size_t capacity = (size_t)n_cells + 1;
	int *position = malloc((size_t)n_sides * capacity * sizeof *position), *common = malloc(3 * capacity * sizeof *common);
	int n = 0, best = -1;

	if (!position || !common) {
		free(position);
		free(common);
		return -1;
	}
	int *length = common + capacity, *before = length + capacity;

	find_positions(side, n_sides, n_cells, position);
	for (int i = 0; i < side[0].n; i++)
		if (wanted[side[0].cell[i]] && has_all(position, n_sides, n_cells, side[0].cell[i]))
			common[n++] = side[0].cell[i];
	/* longest sequence that ends at each cell: its length, and the predecessor of the cell in it */
	for (int i = 0; i < n; i++) {
		length[i] = 1;
		before[i] = -1;
		for (int k = 0; k < i; k++)
			if (length[k] >= length[i] && comes_before(position, n_sides, n_cells, common[k], common[i])) {
				length[i] = length[k] + 1;
				before[i] = k;
			}
		if (best < 0 || length[i] > length[best])
			best = i;
	}
	n = best < 0 ? 0 : length[best];
	for (int i = n - 1; i >= 0; i--, best = before[best])
		out[i] = common[best];
	free(position);
	free(common);
	return n;
}

int interleave_warm(double call_ms)
{
	return call_ms < WARM_BELOW_MS;
}

/* A manifest that requests more pairs gets proportionally more time. */
double interleave_budget_ms(int n_cells, int most)
{
	double share_ms = (double)ALL_BUDGET_MS / (n_cells > 0 ? n_cells : 1);

	return (share_ms < CELL_BUDGET_MS ? share_ms : CELL_BUDGET_MS) * (most > 0 ? most : INTERLEAVE_PAIRS) / INTERLEAVE_PAIRS;
}

int interleave_pairs(double pair_ms, int n_cells, int most)
{
	double pairs = interleave_budget_ms(n_cells, most) / (pair_ms > 1e-3 ? pair_ms : 1e-3);

	pairs = pairs < (most > 0 ? most : INTERLEAVE_PAIRS) ? pairs : (most > 0 ? most : INTERLEAVE_PAIRS);
	return pairs <= INTERLEAVE_PAIRS_MIN ? INTERLEAVE_PAIRS_MIN : (int)pairs / 4 * 4;
}

void interleave_cost_add(
	struct interleave_cost *c, int n, double pairs_s, double others_s, const float *base_ms, const float *target_ms)
{
	double y[STATS_PAIRS_MAX], d, q;

	if (n < INTERLEAVE_PAIRS_MIN / 2 || n > STATS_PAIRS_MAX)
		return;
	for (int i = 0; i < n; i++)
		y[i] = log((double)target_ms[i] / (double)base_ms[i]);
	stats_trimmed(y, n, &d, &q);
	c->runs++;
	c->pairs += n;
	c->pairs_s += pairs_s;
	c->others_s += others_s;
	c->variance += q * n;
}

double interleave_run_noise(const struct interleave_cost *c, double known, double se, int runs)
{
	if (runs < NOISE_RUNS_MIN || c->pairs == 0)
		return known;
	double of_pairs = c->variance / c->pairs; /* variance of the mean of a run's pairs */

	return fmax(known, sqrt(fmax(0, se * se * runs - of_pairs)));
}

/*
 * A run of n pairs has the variance tau^2 + sd^2 / n and costs c_run + n c_pair. The product of both, which is the variance after
 * a given time, is least at n = sqrt(c_run / c_pair) sd / tau.
 */
int interleave_pairs_wanted(const struct interleave_cost *c, double tau, int most)
{
	double pairs = INTERLEAVE_PAIRS_FIRST;

	if (c->runs > 0 && c->pairs_s > 0)
		pairs = sqrt(c->others_s / c->runs / (c->pairs_s / c->pairs)) * sqrt(c->variance / c->runs) / tau;
	pairs = fmin(INTERLEAVE_PAIRS, pairs);
	int n = pairs <= INTERLEAVE_PAIRS_MIN ? INTERLEAVE_PAIRS_MIN : ((int)ceil(pairs) + 3) / 4 * 4;

	return n < most ? n : most;
}
