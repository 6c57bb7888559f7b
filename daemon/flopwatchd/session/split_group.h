/**
 * split_group.h - a job that several slots measure at once, each with a device of one class: either its cells are partitioned,
 * with all pairs of a cell on one device, or a second device confirms its losses. The slot that has the job leads: only it
 * moves the job's row, reports progress and stores the result. The others lend their device; a failure of one of them fails the
 * job.
 */
#ifndef FLOPWATCHD_SESSION_SPLIT_GROUP_H
#define FLOPWATCHD_SESSION_SPLIT_GROUP_H

#include <stdbool.h>

#include "lib/err.h"
#include "flopwatchd/job/result.h"

struct slot;
struct split_group;

/**
 * If the configuration allows it and no other job waits for the devices: partition the leader's plan, which is ready, over it
 * and free slots with devices of the same class. The leader's plan becomes its part. Err: no memory, the database; the plan is
 * unchanged.
 */
int split_group_gather(struct slot *leader, struct fw_err *err);
/** True if it lends its device to another slot's job. */
bool split_group_is_helper(const struct slot *s);
/** True if another device may measure its part: no other slot has a part, whose class the device would have to match. */
bool split_group_may_rebind(const struct slot *s);
/** Update its part after it got another device. No effect without a split group. */
void split_group_rebind(struct slot *s);
/** Check that the devices of all parts are still of one class after a worker's hello. Err: they are not; the database. */
int split_group_fits(const struct slot *s, struct fw_err *err);
/** The slot that has the job: itself, unless it is a helper. */
struct slot *split_group_leader(struct slot *s);
/** Add a finished part; a helper is free then. Own: takes `part`. Err: it does not fit. */
int split_group_take(struct slot *s, struct result *part, struct fw_err *err);
/** Start a confirming set, or return the whole result (else NULL), which is the caller's. Err: as split_group_gather. */
int split_group_go_on(struct slot *leader, struct result **whole, struct fw_err *err);
/** End the job: helpers are free, or will be when their workers have ended. No effect without a split group. */
void split_group_dismiss(struct slot *leader);
/** Remove the slot, whatever its part is. */
void split_group_forget(struct slot *s);

#endif
