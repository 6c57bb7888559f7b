/**
 * groups.h - groups of cells that run the same kernel: one direction of the dense or of the sparse ones. A group can show
 * changes that a single cell has too few calls to show. Pure.
 */
#ifndef FLOPWATCHD_JOB_GROUPS_H
#define FLOPWATCHD_JOB_GROUPS_H

#include "flopwatchd/job/partition.h"
#include "flopwatchd/job/cell.h"

enum { JUDGE_GROUPS_MAX = 16 * PLAN_PARTS_MAX }; /* 16 for each device; cells beyond them form no group */

struct judge_groups {
	int n;
	struct {
		char group[16], direction[16];
		int64_t device; /* a kernel's behaviour on one device says little about another */
		struct tail tail[MEAN_SETS];
	} of[JUDGE_GROUPS_MAX];
};

/** Add a judged cell. Start with n = 0. */
void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t);
void judge_groups_of_result(const struct result *r, struct judge_groups *g);
/** Judge the mean of a judged cell with its group, after all cells were added. */
void judge_groups_mean(const struct judge_groups *g, const struct rule *rule, const struct judge_timed *t, struct store_cell *c);

/** Cells that only a second set of runs can call a loss, as plan indices; returns their number. Shape: cell[n_cells]. */
int judge_groups_unconfirmed(const struct result *r, int *cell);

#endif
