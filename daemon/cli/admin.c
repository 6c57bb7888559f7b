/* Verbs that change state: cancel, retry, pause, resume. */

#include "cli/internal.h"

int verb_cancel(struct client *c, const struct options *o)
{
	char id[JOB_ID_SIZE];
	bool is_branch;
	int status = job_find(c, o, JOB_ONLY_OPEN, id, &is_branch);
	if (status == EXIT_OK)
		status = verb_step(c, "jobs", id, "cancel");
	if (status == EXIT_OK && is_branch)
		printf("J%s is cancelled\n", id);
	return status;
}

int verb_retry(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	char id[JOB_ID_SIZE];
	bool is_branch;
	int status = job_find(c, o, JOB_NEWEST, id, &is_branch);
	if (status != EXIT_OK)
		return status;
	int result = client_post_step(c, "jobs", id, "retry", "", &job, &err);
	return verb_new_job(o, result, job, &err);
}

int verb_pause(struct client *c, const struct options *o)
{
	return verb_step(c, "devices", o->arg[0], "pause");
}

int verb_resume(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_post_step(c, "devices", o->arg[0], "resume", "", &answer, &err) != 0)
		return verb_fail(&err);
	if (devicestate_from_name(value_text(answer, "state")) == DEVICESTATE_HEALTH_CHECK)
		printf("it was quarantined: a health check tries it now; flopwatch devices shows the outcome\n");
	json_decref(answer);
	return EXIT_OK;
}
