/* retry.c - retries, which are stored with the verdict and queued later. */
#include "flopwatchd/record/record.h"

#include <stdio.h>

enum { PRIORITY_RETRY = -1 };

int retry_schedule(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	char at[32], line[160];
	int64_t cells;
	int noted;
	if (!config || !config->retry_after_ms || c->verdict != VERDICT_UNDECIDED)
		return 0;
	if (store_retry_count_noisy(db, c->id, &cells, err))
		return -1;
	if (!cells)
		return 0;
	if (store_retry_schedule(db, job->id, now_ms + config->retry_after_ms, &noted, err))
		return -1;
	clock_format(now_ms + config->retry_after_ms, at);
	if (noted)
		snprintf(line, sizeof line, "runs of %lld cell%s varied too much: one retry, from %s on", (long long)cells,
			cells == 1 ? "" : "s", at);
	else
		snprintf(line, sizeof line, "runs of %lld cell%s varied too much again: the comparison stays undecided",
			(long long)cells, cells == 1 ? "" : "s");
	return store_job_log(db, job->id, now_ms, line, err);
}

static int queue_retry(struct db *db, const struct store_job *first, int64_t now_ms, struct fw_err *err)
{
	struct store_job job = *first;
	char line[128];
	snprintf(job.origin, sizeof job.origin, "retry");
	job.plan = 0;
	job.priority = PRIORITY_RETRY;
	snprintf(line, sizeof line, "queued: retry of J%lld, whose runs varied too much", (long long)first->id);
	return store_job_insert(db, &job, now_ms, err) || store_job_log(db, job.id, now_ms, line, err) ||
			       store_retry_clear(db, first->id, job.id, err)
		       ? -1
		       : 0;
}

/** Delete all retries, also those stored before the configuration disabled them. */
static int drop_all(struct db *db, int64_t now_ms, struct fw_err *err)
{
	int64_t id;
	int result;
	while ((result = store_retry_next(db, &id, err)) == 1)
		if (store_retry_clear(db, id, 0, err) ||
			store_job_log(db, id, now_ms, "no retry: the configuration has `again: 0 s`", err))
			return -1;
	return result;
}

int retry_queue_due(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err)
{
	int64_t id;
	int queued = 0, due;
	if (!config->retry_after_ms)
		return drop_all(db, now_ms, err);
	while ((due = store_retry_due(db, now_ms, &id, err)) == 1) {
		struct store_job first;
		int wanted = store_retry_is_useful(db, id, err);
		if (wanted < 0 || store_job_get(db, id, &first, err))
			return -1;
		wanted = wanted && config_repo_find(config, first.repo_name) >= 0;
		if (wanted ? queue_retry(db, &first, now_ms, err) : store_retry_clear(db, id, 0, err))
			return -1;
		queued += wanted;
	}
	return due < 0 ? -1 : queued;
}
