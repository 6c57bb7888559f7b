#include "flopwatchd/job/job.h"

#include <stdio.h>

void profile_request_like(const struct store_profile_of *of, struct store_job *job)
{
	job->repo = of->repo;
	snprintf(job->base_sha, sizeof job->base_sha, "%s", of->base_sha);
	snprintf(job->target_sha, sizeof job->target_sha, "%s", of->target_sha);
	snprintf(job->suite, sizeof job->suite, "%s", of->suite);
	snprintf(job->base_provider, sizeof job->base_provider, "%s", of->base_provider);
	snprintf(job->target_provider, sizeof job->target_provider, "%s", of->target_provider);
	snprintf(job->base_config, sizeof job->base_config, "%s", of->base_config);
	snprintf(job->target_config, sizeof job->target_config, "%s", of->target_config);
	job->base_tools = of->base_tools;
	job->target_tools = of->target_tools;
	snprintf(job->device_uuid, sizeof job->device_uuid, "%s", of->device_uuid);
}

int profile_request(
	struct db *db, struct store_job *job, struct store_profile *p, const char *line, int64_t now_ms, struct fw_err *err)
{
	job->kind = JOBKIND_PROFILE;
	job->priority = PROFILE_PRIORITY;
	job->branch[0] = 0; /* not part of a branch's history: no newer tip supersedes it */
	job->plan = 0;
	snprintf(job->base_how, sizeof job->base_how, "given");
	if (store_job_insert(db, job, now_ms, err) != 0)
		return -1;
	p->job = job->id;
	return store_profile_insert(db, p, err) != 0 || store_job_log(db, job->id, now_ms, line, err) != 0 ||
			       store_job_report(db, job, "job.queued", JOBSTATE_QUEUED, NULL, now_ms, err) != 0
		       ? -1
		       : 0;
}
