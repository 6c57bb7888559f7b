/** split_group_inside.h - state and functions shared by split_group.c and split_group_round.c, included by no other file. */
#ifndef FLOPWATCHD_SESSION_SPLIT_GROUP_INSIDE_H
#define FLOPWATCHD_SESSION_SPLIT_GROUP_INSIDE_H

#include "flopwatchd/session/split_group.h"
#include "flopwatchd/session/slot_inside.h"
#include "flopwatchd/job/sentinels.h"

enum { AGAIN_MAX = 2 }; /* rounds of repeated cells: one round may show that more must be repeated */

struct split_group_part {
	struct slot *slot; /* NULL: done, or gone */
	int64_t device_id;
	struct share share; /* owns its cells */
	bool is_done;
};

struct split_group {
	struct result *whole; /* the parts so far, under the whole plan */
	bool confirms;        /* another device runs the second set */
	int n_again;          /* rounds of repeated cells */
	int n_first;          /* parts of the first set, 0: not complete; later parts confirm */
	int n_parts, n_done;
	struct split_group_part part[2 * PLAN_PARTS_MAX + AGAIN_MAX];
};

/** Find a free device of the slot that is in state ok, of the leader's class, and that no job waits for. 1, 0, -1. */
int split_group_could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err);
/** Take that device of the slot for the leader's job. */
void split_group_recruit(
	struct slot *s, const struct slot *leader, struct split_group *c, const struct msg_device *device, int64_t device_id);
/** Make the plan of a part. Own: plan_fini. */
int split_group_plan(
	const struct split_group *c, const struct plan *whole, const struct share *s, struct plan *out, struct fw_err *err);
/** Log the cells and devices of the parts from `first` on. */
int split_group_log_parts(
	const struct split_group *c, const struct slot *leader, const char *what, int first, struct fw_err *err);

/**
 * After the first set: the leader measures cells again that were timed in pairs alone but need sustained runs, all on its
 * device. Their old results are dropped first: if the new runs fail, the cells have none. Starts no part if there are no such
 * cells.
 */
int split_group_look_again(struct split_group *c, struct slot *leader, struct fw_err *err);
/** Then let another device confirm each loss. Starts no part if there is none. */
int split_group_confirm(struct split_group *c, struct slot *leader, struct fw_err *err);

#endif
