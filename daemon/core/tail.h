/**
 * tail.h - slow calls, which a trimmed mean does not see. Pure.
 *
 * A call is slow when it takes 1.04 times its side's typical call of that launch at equal clocks: beside a power limit every tenth call is
 * as slow as that by its clock alone, and of 16,152 calls recorded on an H200 none was with the clock taken out.
 */
#ifndef CORE_TAIL_H
#define CORE_TAIL_H

#include "core/stats.h"

/** Slow calls of base and target among `total` of each. */
struct tail {
	int slow[2], total;
};

/** Count those of one launch. `beta`: as stats_launches found it for the cell. */
void tail_count(struct tail *t, const struct launch_pairs *launch, double beta);
/** Add the calls of another cell. */
void tail_pool(struct tail *t, const struct tail *other);

/**
 * Whether slow calls became more frequent: Fisher p < 0.001 and more than 5 points of share, in a cell's own calls or, where it has some of
 * them, in those of its group: cells that run the same kernel, which are too long to be called often. `group` holds the cell, too.
 */
bool tail_is(const struct tail *own, const struct tail *group);
/** Whether it looks so, p < 0.1 at the same difference, without being called so yet: worth more launches. */
bool tail_is_open(const struct tail *own, const struct tail *group);

#endif
