#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdlib.h>

void plan_copy_cells(const struct plan *whole, const int *cell, int n, struct plan *out)
{
	*out = *whole;
	memset(&out->suite_text, 0, sizeof out->suite_text);
	buf_init(&out->suite_text, 16);
	out->request.n_cells = n;
	out->request.cell = mem_alloc_zero((size_t)n + 1, sizeof *out->request.cell);
	for (int i = 0; i < n; i++)
		out->request.cell[i] = whole->request.cell[cell[i]];
}

/* cost of a cell in addition to its calls (inputs, checks, runs), in calls of an average cell */
#define FIXED_COST 1.0
#define EASED_BY   1e-3 /* smallest gain of an exchange, relative to all work */

/* Shape: cost[n_cells]. Own: free. */
static double *estimate_costs(const struct plan *whole)
{
	int n = whole->request.n_cells, known = 0;
	double total = 0, *cost = mem_alloc_zero((size_t)n + 1, sizeof *cost);
	for (int i = 0; i < n; i++) {
		double flops = case_flops(&whole->request.cell[i]);
		total += flops > 0 ? flops : 0;
		known += flops > 0;
	}
	for (int i = 0; i < n; i++) {
		double flops = case_flops(&whole->request.cell[i]);
		cost[i] = FIXED_COST + (flops > 0 ? flops * known / total : 1);
	}
	return cost;
}

/* Assign the largest cell first, each to the partition with the least work: within a third of the optimum. */
static void assign_largest_first(const double *cost, int n, int n_partitions, int *partition_of, double *load)
{
	for (int i = 0; i < n; i++)
		partition_of[i] = -1;
	for (int dealt = 0; dealt < n; dealt++) {
		int largest = -1, least = 0;
		for (int i = 0; i < n; i++)
			if (partition_of[i] < 0 && (largest < 0 || cost[i] > cost[largest]))
				largest = i;
		for (int p = 1; p < n_partitions; p++)
			least = load[p] < load[least] ? p : least;
		partition_of[largest] = least;
		load[least] += cost[largest];
	}
}

/*
 * Return the larger load of the two partitions if cell `i` moves to the other one in exchange for `k`; k < 0: without exchange.
 */
static double load_after_exchange(const double *cost, const double *load, int from, int to, int i, int k)
{
	double moved = cost[i] - (k < 0 ? 0 : cost[k]);
	return fmax(load[from] - moved, load[to] + moved);
}

/* Make the exchange that reduces the largest load most. Returns false if there is none. */
static bool reduce_largest_load(const double *cost, int n, int n_partitions, int *partition_of, double *load)
{
	int most = 0, best = -1, with = -1, to = -1;
	for (int p = 1; p < n_partitions; p++)
		most = load[p] > load[most] ? p : most;
	double least = load[most] * (1 - EASED_BY);
	for (int i = 0; i < n; i++)
		for (int k = -n_partitions; k < n && partition_of[i] == most; k++) {
			int other = k < 0 ? k + n_partitions : partition_of[k];
			double then = other == most ? INFINITY : load_after_exchange(cost, load, most, other, i, k);
			if (then < least) {
				least = then;
				best = i;
				with = k;
				to = other;
			}
		}
	if (best < 0)
		return false;
	double moved = cost[best] - (with < 0 ? 0 : cost[with]);
	load[most] -= moved;
	load[to] += moved;
	partition_of[best] = to;
	if (with >= 0)
		partition_of[with] = most;
	return true;
}

void plan_partition(const struct plan *whole, int n_partitions, int *partition_of)
{
	double load[PLAN_PARTITIONS_MAX] = { 0 }, *cost = estimate_costs(whole);
	int n = whole->request.n_cells;
	assign_largest_first(cost, n, n_partitions, partition_of, load);
	for (int i = 0; i < n && reduce_largest_load(cost, n, n_partitions, partition_of, load); i++)
		;
	free(cost);
}
