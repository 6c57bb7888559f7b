/**
 * commit_status.h - commit statuses for a repository's forge: each change of a job's state queues a status of the suite and one
 * of the whole commit, inside the transaction of that change. Repositories without `status:` have none. Ctx: loop only.
 */
#ifndef FLOPWATCHD_NOTIFICATION_COMMIT_STATUS_H
#define FLOPWATCHD_NOTIFICATION_COMMIT_STATUS_H

#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "db/result.h"

/** True if a job has statuses: it compares a whole commit of a branch. */
bool status_is_reported(const struct store_job *job);
/** Queue the status of a job in `state`, with a reason or "". `suite` NULL: the job's. */
int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, enum jobstate state,
	const char *why, int64_t now_ms, struct fw_err *err);
/** Queue statuses of jobs ended by this transaction's side effects at `now_ms`, of repository `only`; NULL: of all. */
int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err);
/** Queue the status of a comparison with its verdict. */
int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

#endif
