/* Verbs that change state: cancel, retry, pause, resume. */

#include "cli/internal.h"

int verb_cancel(struct client *c, const struct options *o)
{
	return verb_step(c, "jobs", verb_id(o->arg[0], 'J'), "cancel");
}

int verb_retry(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	int result = client_post_step(c, "jobs", verb_id(o->arg[0], 'J'), "retry", "", &job, &err);
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
