/**
 * profile_request.h - profile jobs, which find out why cells lost. Their priority is below all other work that users wait for.
 * Inside the caller's transaction.
 */
#ifndef FLOPWATCHD_JOB_PROFILE_REQUEST_H
#define FLOPWATCHD_JOB_PROFILE_REQUEST_H

#include "db/store_profile.h"
#include "db/job.h"

/** Below a bisect, the lowest work that users request. A job of PROFILE_PRIORITY_YIELDS or above preempts a running profile. */
enum { PROFILE_PRIORITY = -6, PROFILE_PRIORITY_YIELDS = 0 };

/** Copy sides, suite and device of a comparison into `job`; the caller sets cells, origin and names. */
void profile_request_like(const struct store_profile_of *of, struct store_job *job);
/**
 * Insert `job` and its profile `p`, which holds the explained comparison; sets both ids. `line`: the reason, for the job's log.
 */
int profile_request(
	struct db *db, struct store_job *job, struct store_profile *p, const char *line, int64_t now_ms, struct fw_err *err);

#endif
