/**
 * profile_ask.h - queues a profile: a job that finds out why cells lost, below all that is judged or was asked for, so that nobody waits
 * for it. Inside the caller's transaction.
 */
#ifndef FLOPWATCHD_JOB_PROFILE_ASK_H
#define FLOPWATCHD_JOB_PROFILE_ASK_H

#include "db/profile/store_profile.h"
#include "db/store/job.h"

/** Below a search, which is the least that people ask for. Whatever is PROFILE_PRIORITY_YIELDS or above interrupts one that runs. */
enum { PROFILE_PRIORITY = -6, PROFILE_PRIORITY_YIELDS = 0 };

/** A job about the same sides, suite and device as a comparison; cells, origin and names are the caller's. */
void profile_ask_like(const struct store_profile_of *of, struct store_job *job);
/** Insert `job`, as a profile's, and `p`, which holds what it explains; both get their ids. `line`: why, for the job's log. */
int profile_ask(
	struct db *db, struct store_job *job, struct store_profile *p, const char *line, int64_t now_ms, struct fw_err *err);

#endif
