/**
 * plan_alerts.h - alerts about commits of the upstream branch that come before any measurement: what its manifest does not name any more
 * (kind vanished), and that it cannot be measured at all (kind broken, without cells). Inside the caller's transaction. Ctx: loop only.
 */
#ifndef FLOPWATCHD_PLANNING_PLAN_ALERTS_H
#define FLOPWATCHD_PLANNING_PLAN_ALERTS_H

#include "flopwatchd/planning/resolve.h"

/**
 * Tell what the answer to `job` means: a plan that cannot be made, or suites that the base names and the target does not. What a later
 * commit mends ends. Jobs that are not pushes to the upstream branch are nobody's news. Err: -1 and the caller rolls back.
 */
int plan_alerts(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_answer *a,
	int64_t now_ms, struct fw_err *err);

#endif
