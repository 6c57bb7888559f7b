/**
 * profile_finish.h - the end of a profile: stores its findings and updates the alert that requested it. It changes no verdict,
 * comparison or status.
 */
#ifndef FLOPWATCHD_RECORD_PROFILE_FINISH_H
#define FLOPWATCHD_RECORD_PROFILE_FINISH_H

#include "flopwatchd/job/result.h"
#include "flopwatchd/config/config.h"

/** Store the profile of a job and mark the job as done, inside the caller's transaction. `config` NULL: no notifications. */
int profile_finish(
	struct db *db, const struct config *config, const struct result *r, int64_t now_ms, int64_t *profile, struct fw_err *err);
/** As above, for a plan that needs no worker. Own: takes over the plan's contents. */
int profile_unrun(
	struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, int64_t *profile, struct fw_err *err);

#endif
