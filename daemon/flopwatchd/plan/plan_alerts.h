/**
 * plan_alerts.h - alerts about commits of the upstream branch before any measurement: suites that its manifest no longer names
 * (kind missing), and a plan that cannot be made (kind failing, without cells). Inside the caller's transaction. Ctx: loop
 * only.
 */
#ifndef FLOPWATCHD_PLAN_PLAN_ALERTS_H
#define FLOPWATCHD_PLAN_PLAN_ALERTS_H

#include "flopwatchd/plan/resolve.h"

/**
 * Open or resolve alerts for the answer to `job`: no plan, or suites that the base names and the target does not. A later
 * commit that fixes them resolves them. Only pushes to the upstream branch count. Err: -1, and the caller rolls back.
 */
int plan_alerts(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_answer *a,
	int64_t now_ms, struct fw_err *err);

#endif
