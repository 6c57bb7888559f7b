/**
 * sentinels.h - of a job in parts: which part looks at whose power draw, and which cells of the others are measured again because of what it saw.
 *
 * A look takes seconds that are not divided, so each class of cells is looked at by one part. Where power draw differs, cells that their own
 * part has timed in pairs alone are measured again, in sustained runs: rare, and never left out.
 */
#ifndef FLOPWATCHD_JOB_SENTINELS_H
#define FLOPWATCHD_JOB_SENTINELS_H

#include "flopwatchd/job/partition.h"
#include "flopwatchd/job/result.h"

/** What one device has to do of a job, and what its worker has said of it. */
struct share {
	int n, *cell;                /* cell[n]: positions in the whole plan; owned by whoever filled it */
	sentinel_set elsewhere;      /* classes that others look at */
	sentinel_set asked;          /* whose cells have to run in sustained runs */
	sentinel_set sustained_runs; /* told: whose cells have run so */
};

/** Each class to one of at most PLAN_PARTS_MAX shares that have a cell at least half as long as its longest, the one with the fewest. Pure. */
void sentinels_assign(const struct plan *whole, struct share *share, int n);
/**
 * Cells to be measured again together, since what another share saw of their direction asks for sustained runs, or since it did not come to look at
 * their class. Those that have run in sustained runs, or failed, are none of them. Pure. Shape: share[n], of several with one cell the last counts;
 * again->cell has a place for every cell of the plan.
 */
void sentinels_again(const struct result *whole, const struct share *share, int n, struct share *again);

#endif
