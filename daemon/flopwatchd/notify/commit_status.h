/**
 * commit_status.h - what is owed to the forge of a repository about its commits: a word on the suite and one on the whole commit with every
 * change of a job's state, inside the transaction of that change. Repositories without `status:` owe nothing. Ctx: loop only.
 */
#ifndef FLOPWATCHD_NOTIFICATION_COMMIT_STATUS_H
#define FLOPWATCHD_NOTIFICATION_COMMIT_STATUS_H

#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "db/store/result.h"

/** Whether people are told of this job: a whole comparison of a branch's commit. */
bool status_is_told(const struct store_job *job);
/** The job moved to `state` (as jobs name it), with a reason or "". `suite` NULL: the job's. */
int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, enum jobstate state,
	const char *why, int64_t now_ms, struct fw_err *err);
/**
 * Jobs that ended at `now_ms` beside the one that the transaction is about: superseded, dropped with their branch, given up. Of repository
 * `only`; NULL: of every one.
 */
int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err);
/** A comparison has its verdict. */
int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

#endif
