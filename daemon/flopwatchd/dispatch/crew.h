/**
 * crew.h - a job whose cells are measured by several slots at once, each with a device of one class: all pairs of a cell on one device.
 *
 * The slot that has the job leads: it alone moves the job's row, tells progress and stores the result. The others lend their device; what
 * goes wrong with one of them goes wrong with the job.
 */
#ifndef FLOPWATCHD_DISPATCH_CREW_H
#define FLOPWATCHD_DISPATCH_CREW_H

#include <stdbool.h>

#include "base/err.h"
#include "flopwatchd/job/result.h"

struct slot;
struct crew;

/**
 * Where the configuration wants it and nothing else waits for them: deal the leader's plan, which is ready, to it and free slots with
 * devices of the same class. The leader's plan is then its part. Err: no memory, the database; the plan is as it was.
 */
int crew_gather(struct slot *leader, struct fw_err *err);
/** Whether it lends its device to another slot's job. */
bool crew_is_helper(const struct slot *s);
/** The slot that has the job: itself, unless it is a helper. */
struct slot *crew_leader(struct slot *s);
/** A part is done, and a helper none any more. The whole result when it was the last one, else NULL. Own: takes `part`; the caller has what is returned. Err: it is too large. */
int crew_take(struct slot *s, struct result *part, struct result **whole, struct fw_err *err);
/** The job is over: helpers are free, or will be when their workers have left. Fine for a slot without a crew. */
void crew_dismiss(struct slot *leader);
/** The slot goes away, whatever its part is. */
void crew_forget(struct slot *s);

#endif
