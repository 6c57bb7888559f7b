/** throttle.h - device time during which clocks were limited. */
#ifndef FLOPWATCHD_JOB_THROTTLE_H
#define FLOPWATCHD_JOB_THROTTLE_H

#include "db/db.h"
#include "flopwatchd/job/result.h"

/**
 * Add the device time of a result's timed calls to the throttle reasons that the device checks around them report. A check
 * gives the worse reading of before and after, so the sum is an upper bound. `device`: that of the comparison; times of other
 * devices do not count. Inside the caller's transaction.
 */
int judge_throttle(struct db *db, const struct result *r, int64_t device, struct fw_err *err);

#endif
