/** split_group_inside.h - what split_group.c and split_group_round.c share. Nobody else includes this. */
#ifndef FLOPWATCHD_DISPATCH_SPLIT_GROUP_INSIDE_H
#define FLOPWATCHD_DISPATCH_SPLIT_GROUP_INSIDE_H

#include "flopwatchd/dispatch/split_group.h"
#include "flopwatchd/dispatch/slot_inside.h"
#include "flopwatchd/job/sentinels.h"

enum { AGAIN_MAX = 2 }; /* what was measured again may have shown that more has to be */

struct split_group_part {
	struct slot *slot; /* NULL: it is done, or gone */
	int64_t device_id;
	struct share share; /* its cells are owned here */
	bool is_done;
};

struct split_group {
	struct result *whole; /* what has come so far, under the whole plan */
	bool confirms;        /* a second set of runs is another device's */
	int n_again;          /* times that cells to be measured again were asked for */
	int n_first;          /* parts of the first set, 0: it is not over; those behind them confirm */
	int n_parts, n_done;
	struct split_group_part part[2 * PLAN_PARTS_MAX + AGAIN_MAX];
};

/** A device of the slot that is free, in order and of the leader's class, and that nothing waits for. 1, 0, -1. */
int split_group_could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err);
/** The slot lends that device to the leader's job, which it is taken for from here on. */
void split_group_recruit(
	struct slot *s, const struct slot *leader, struct split_group *c, const struct msg_device *device, int64_t device_id);
/** The plan of a part. Own: plan_fini. */
int split_group_plan(
	const struct split_group *c, const struct plan *whole, const struct share *s, struct plan *out, struct fw_err *err);
/** Into the job's log: what the parts from `first` on have to do, and where. */
int split_group_log_parts(
	const struct split_group *c, const struct slot *leader, const char *what, int first, struct fw_err *err);

/**
 * The first set is over: cells that were timed in pairs alone, and have to run in sustained runs, are measured again by the leader, all of it on its
 * device. What there was of them is forgotten first: where it cannot be told again, they are open. Begins no part where there are none.
 */
int split_group_look_again(struct split_group *c, struct slot *leader, struct fw_err *err);
/** And then: what it would call a loss has to show on another device. Begins no part where there is none. */
int split_group_confirm(struct split_group *c, struct slot *leader, struct fw_err *err);

#endif
