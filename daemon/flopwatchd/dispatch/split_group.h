/**
 * split_group.h - a job whose cells are measured by several slots at once, each with a device of one class: all pairs of a cell on one device;
 * or whose losses are confirmed by runs on another device than those that showed them.
 *
 * The slot that has the job leads: it alone moves the job's row, tells progress and stores the result. The others lend their device; what
 * goes wrong with one of them goes wrong with the job.
 */
#ifndef FLOPWATCHD_DISPATCH_SPLIT_GROUP_H
#define FLOPWATCHD_DISPATCH_SPLIT_GROUP_H

#include <stdbool.h>

#include "base/err.h"
#include "flopwatchd/job/result.h"

struct slot;
struct split_group;

/**
 * Where the configuration wants it and nothing else waits for them: deal the leader's plan, which is ready, to it and free slots with
 * devices of the same class. The leader's plan is then its part. Err: no memory, the database; the plan is as it was.
 */
int split_group_gather(struct slot *leader, struct fw_err *err);
/** Whether it lends its device to another slot's job. */
bool split_group_is_helper(const struct slot *s);
/** Whether its part may be measured on another device: not where others have parts, too, whose class it would have to be of. */
bool split_group_may_rebind(const struct slot *s);
/** It has another device now: what it measures is that one's. Fine for a slot without a split group. */
void split_group_rebind(struct slot *s);
/** A worker has said what its devices are now: whether those of all parts fit one class still. Err: they do not; the database. */
int split_group_fits(const struct slot *s, struct fw_err *err);
/** The slot that has the job: itself, unless it is a helper. */
struct slot *split_group_leader(struct slot *s);
/** A part is done, and a helper none any more. Own: takes `part`. Err: there is too much of it. */
int split_group_take(struct slot *s, struct result *part, struct fw_err *err);
/** What comes next: nothing as long as others are at work, confirming sets, or the whole result (else NULL), which is the caller's. Err: as split_group_gather. */
int split_group_go_on(struct slot *leader, struct result **whole, struct fw_err *err);
/** The job is over: helpers are free, or will be when their workers have left. Fine for a slot without a split group. */
void split_group_dismiss(struct slot *leader);
/** The slot goes away, whatever its part is. */
void split_group_forget(struct slot *s);

#endif
