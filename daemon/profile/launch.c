/* launch.c - utilisation of the device: blocks, busy multiprocessors, warps that hide waits. */
#include <math.h>
#include <stdio.h>

#include "profile/internal.h"

#define ACTIVE      "sm__cycles_active.avg"
#define ELAPSED     "gpc__cycles_elapsed.max"
#define WARPS       "sm__warps_active.avg.pct_of_peak_sustained_active"
#define IDLE_FLOOR  0.002
#define WARPS_FLOOR 0.01
#define GRID_LEAST  0.03 /* minimum change of the number of blocks, as a share */

static double blocks_of(const struct cause_kernel *k)
{
	double blocks = amount_value(k, "sm__ctas_launched.sum");

	return isnan(blocks) ? (double)k->grid[0] * k->grid[1] * k->grid[2] : blocks;
}

static bool other_grid(const struct analysis *l, double *base, double *target)
{
	*base = blocks_of(pair_kernel(l->pair, 0));
	*target = blocks_of(pair_kernel(l->pair, 1));
	return *base > 0 && *target > 0 && fabs(*target / *base - 1) > GRID_LEAST;
}

/* Idle time of multiprocessors of both sides, in the verdict's milliseconds. */
static void find_idle(const struct analysis *l, struct findings *f)
{
	struct amount active = amount_of(l->pair, ACTIVE), elapsed = amount_of(l->pair, ELAPSED);
	double base, target, base_blocks, target_blocks;
	char what[FINDING_SIZE];

	if (!active.is_known || !elapsed.is_known || !(elapsed.base > 0) || !(elapsed.target > 0))
		return;
	base = fmin(1, active.base / elapsed.base);
	target = fmin(1, active.target / elapsed.target);
	struct amount busy = { true, base, target, active.noise / elapsed.base };

	if (!amount_differs(&busy, IDLE_FLOOR))
		return;
	double ms = (l->pair->base_ms + l->pair->change_ms) * (1 - target) - l->pair->base_ms * (1 - base);

	if (other_grid(l, &base_blocks, &target_blocks)) {
		snprintf(what, sizeof what,
			"runs %.0f blocks instead of %.0f, and multiprocessors work for %.0f %% of its time instead of %.0f %%",
			target_blocks, base_blocks, 100 * target, 100 * base);
		finding_add(f, CAUSE_GRID, l->pair, ms, WEIGHT_WORK, what);
		return;
	}
	snprintf(what, sizeof what, "leaves multiprocessors without work for %.1f %% of its time instead of %.1f %%",
		100 * (1 - target), 100 * (1 - base));
	finding_add(f, CAUSE_IMBALANCE, l->pair, ms, WEIGHT_WAIT, what);
}

static void find_occupancy(const struct analysis *l, struct findings *f)
{
	struct amount warps = amount_of(l->pair, WARPS);
	const struct cause_kernel *base = pair_kernel(l->pair, 0), *target = pair_kernel(l->pair, 1);
	double base_blocks, target_blocks;
	char what[FINDING_SIZE];

	if (!amount_differs(&warps, WARPS_FLOOR) || !(warps.target > 0) || !(warps.base > 0))
		return;
	double ms = l->pair->base_ms * (warps.base / warps.target - 1) * (1 - l->quantity.busiest);

	if (other_grid(l, &base_blocks, &target_blocks)) {
		snprintf(what, sizeof what,
			"runs %.0f blocks instead of %.0f, and holds %.1f %% of the possible warps instead of %.1f %%",
			target_blocks, base_blocks, warps.target, warps.base);
		finding_add(f, CAUSE_GRID, l->pair, ms, WEIGHT_LAUNCH, what);
	} else if (base->ctas_per_sm > 0 && target->ctas_per_sm > 0 && base->ctas_per_sm != target->ctas_per_sm) {
		snprintf(what, sizeof what,
			"fits %d blocks on a multiprocessor instead of %d (%d registers instead of %d, %d bytes of shared memory instead of %d)",
			target->ctas_per_sm, base->ctas_per_sm, target->registers, base->registers, target->shared_bytes,
			base->shared_bytes);
		finding_add(f, CAUSE_OCCUPANCY, l->pair, ms, WEIGHT_LAUNCH, what);
	} else {
		snprintf(what, sizeof what, "holds %.1f %% of the possible warps instead of %.1f %%", warps.target, warps.base);
		finding_add(f, CAUSE_OCCUPANCY, l->pair, ms, WEIGHT_SYMPTOM, what);
	}
}

void launch_find(const struct analysis *l, struct findings *f)
{
	find_idle(l, f);
	find_occupancy(l, f);
}
