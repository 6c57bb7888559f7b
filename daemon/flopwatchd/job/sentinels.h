/**
 * sentinels.h - sentinel runs of a split job: which part measures the power draw of each class of cells, and which cells of
 * other parts are measured again because of the result. A sentinel run takes seconds that do not divide, so one part measures
 * each class. If power draw differs, cells that their own part timed in pairs alone are measured again in sustained runs: rare,
 * but never omitted.
 */
#ifndef FLOPWATCHD_JOB_SENTINELS_H
#define FLOPWATCHD_JOB_SENTINELS_H

#include "flopwatchd/job/partition.h"
#include "flopwatchd/job/result.h"

/** Work of one device in a job, and its results. */
struct share {
	int n, *cell;                /* cell[n]: indices in the whole plan; owned by the code that filled it */
	sentinel_set elsewhere;      /* classes that other shares measure */
	sentinel_set requested;      /* classes whose cells need sustained runs */
	sentinel_set sustained_runs; /* reported: classes whose cells had sustained runs */
};

/**
 * Assign each class to one of at most PLAN_PARTS_MAX shares: the one with the fewest among those with a cell at least half as
 * long as the class's longest. Pure.
 */
void sentinels_assign(const struct plan *whole, struct share *share, int n);
/**
 * Collect the cells to measure again: the sentinel runs of another share require sustained runs for their direction, or did not
 * take place. Excludes cells that had sustained runs or failed. Pure. Shape: share[n], the last one with a cell counts;
 * again->cell has space for every cell of the plan.
 */
void sentinels_again(const struct result *whole, const struct share *share, int n, struct share *again);

#endif
