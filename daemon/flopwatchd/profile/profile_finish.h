/**
 * profile_finish.h - stores what a profile found, and tells the alert that asked. It writes no verdict, no comparison and no status: these
 * were said before, and do not depend on it.
 */
#ifndef FLOPWATCHD_PROFILE_PROFILE_FINISH_H
#define FLOPWATCHD_PROFILE_PROFILE_FINISH_H

#include "flopwatchd/job/result.h"
#include "flopwatchd/runtime/config.h"

/** All that is known of a profile's job, inside the caller's transaction; the job is done then. `config` NULL: no webhook is told. */
int profile_finish(
	struct db *db, const struct config *config, const struct result *r, int64_t now_ms, int64_t *profile, struct fw_err *err);
/** The same of a plan that needs no worker. Own: takes over the plan's contents. */
int profile_unrun(
	struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, int64_t *profile, struct fw_err *err);

#endif
