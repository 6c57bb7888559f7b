#include "flopwatchd/plan/internal.h"

#include <stdio.h>

#include "lib/lib.h"

/* Queue another job like a failed one. 1 and its id, 0 it did not fail or failed too often, -1. */
static int queue_again(
	struct db *db, const struct store_environment_change *change, int64_t of, int64_t now_ms, int64_t *id, struct fw_err *err)
{
	struct store_job job;
	char why[96];
	int tries;
	if (store_job_get(db, of, &job, err))
		return -1;
	if (job.state != JOBSTATE_FAILED)
		return 0;
	if (store_environment_change_tries(db, change, &job, &tries, err))
		return -1;
	if (tries >= ENVIRONMENT_TRIES)
		return 0;
	snprintf(why, sizeof why, "queued: job %lld for this environment change failed", (long long)of);
	job.plan = 0;
	if (store_job_insert(db, &job, now_ms, err) || store_job_log(db, job.id, now_ms, why, err) ||
		store_job_report(db, &job, "job.queued", JOBSTATE_QUEUED, NULL, now_ms, err))
		return -1;
	log_info("environment.again", "job=%lld after=%lld", (long long)job.id, (long long)of);
	*id = job.id;
	return 1;
}

int environment_again(struct db *db, const struct store_environment_change *change, int64_t now_ms, int *n, struct fw_err *err)
{
	struct store_environment_change next = *change;
	int paired = change->paired || !change->paired_job
			     ? 0
			     : queue_again(db, change, change->paired_job, now_ms, &next.paired_job, err);
	int unpaired = paired < 0 || change->unpaired || !change->unpaired_job
			       ? 0
			       : queue_again(db, change, change->unpaired_job, now_ms, &next.unpaired_job, err);
	if (paired < 0 || unpaired < 0)
		return -1;
	*n += paired + unpaired;
	return paired + unpaired ? store_environment_change_request(db, &next, err) : 0;
}

static int end_queued(struct db *db, int64_t id, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_job job;
	if (!id)
		return 0;
	if (store_job_get(db, id, &job, err))
		return -1;
	if (job.state != JOBSTATE_QUEUED)
		return 0;
	return store_job_state(db, id, JOBSTATE_CANCELLED, why, now_ms, err) ||
			       store_job_report_state(db, &job, JOBSTATE_CANCELLED, why, now_ms, err)
		       ? -1
		       : 0;
}

int environment_over(
	struct db *db, const struct store_environment_change *change, const char *why, int64_t now_ms, struct fw_err *err)
{
	return end_queued(db, change->paired_job, why, now_ms, err) || end_queued(db, change->unpaired_job, why, now_ms, err) ||
			       store_environment_change_missed(db, change->id, err)
		       ? -1
		       : 0;
}

int environment_leave(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_environment_change change;
	int found;
	while ((found = store_environment_change_undone(db, uuid, &change, err)) == 1)
		if (environment_over(db, &change, why, now_ms, err))
			return -1;
	return found;
}
