/** throttle.h - how long clocks were held back while something was timed. */
#ifndef FLOPWATCHD_JUDGE_THROTTLE_H
#define FLOPWATCHD_JUDGE_THROTTLE_H

#include "db/sqlite/db.h"
#include "flopwatchd/job/result.h"

/**
 * Add the device time of all timed calls of a result to the reasons that the readings around them gave. A reading is the worst of
 * before and after, so this is the most that it can have been. `device`: that of the comparison; what others timed is theirs. Writes
 * inside the caller's transaction.
 */
int judge_throttle(struct db *db, const struct result *r, int64_t device, struct fw_err *err);

#endif
