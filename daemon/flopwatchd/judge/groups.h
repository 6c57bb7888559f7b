/**
 * groups.h - cells that run the same kernel: one direction of the dense or of the sparse ones. What a cell is called too rarely to
 * show, its group may. Pure.
 */
#ifndef FLOPWATCHD_JUDGE_GROUPS_H
#define FLOPWATCHD_JUDGE_GROUPS_H

#include "flopwatchd/job/partition.h"
#include "flopwatchd/judge/cell.h"

enum { JUDGE_GROUPS_MAX = 16 * PLAN_PARTS_MAX }; /* of each device 16; cells beyond them stand for themselves */

struct judge_groups {
	int n;
	struct {
		char group[16], direction[16];
		int64_t device; /* what a kernel does on one says little of another */
		struct tail tail[MEAN_SETS];
	} of[JUDGE_GROUPS_MAX];
};

/** Add a judged cell. Begin with n = 0. */
void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t);
/** Pool all cells of a result. */
void judge_groups_of_result(const struct result *r, struct judge_groups *g);
/** Judge the mean of a judged cell beside its group, once all cells have been added. */
void judge_groups_mean(const struct judge_groups *g, const struct rule *rule, const struct judge_timed *t, struct store_cell *c);

/** Cells that only a second set of runs can call a loss: their places in the plan. How many. Shape: cell[n_cells]. */
int judge_groups_unconfirmed(const struct result *r, int *cell);

#endif
