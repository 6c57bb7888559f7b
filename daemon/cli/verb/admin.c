/* Verbs that change something: cancel, retry, pause, resume, backup. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/value.h"
#include "cli/verbs.h"
#include "core/state/devicestate.h"

static int post(struct client *c, const char *collection, const char *id, const char *verb)
{
	struct fw_err err = { 0 };
	return client_post_step(c, collection, id, verb, "", NULL, &err) == 0 ? EXIT_OK : verb_fail(&err);
}

int verb_cancel(struct client *c, const struct options *o)
{
	return post(c, "jobs", o->arg[0], "cancel");
}

int verb_retry(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	if (client_post_step(c, "jobs", o->arg[0], "retry", "", &job, &err) != 0)
		return verb_fail(&err);
	verb_new_job(job, o);
	json_decref(job);
	return EXIT_OK;
}

int verb_pause(struct client *c, const struct options *o)
{
	return post(c, "devices", o->arg[0], "pause");
}

int verb_resume(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_post_step(c, "devices", o->arg[0], "resume", "", &answer, &err) != 0)
		return verb_fail(&err);
	if (devicestate_from_name(value_text(answer, "state")) == DEVICESTATE_CANARY)
		printf("it was quarantined: a canary tries it now; flopwatch devices shows the outcome\n");
	json_decref(answer);
	return EXIT_OK;
}

/* Written beside the file and renamed over it, so that a backup that is there is a whole one. */
int verb_backup(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	const char *path = o->arg[0];
	char part[4096];
	if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) {
		err_set(&err, ERR_INVALID, "the name of the file is too long");
		return verb_fail_here(&err);
	}
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err_sys(&err, "cannot write %s", part);
		return verb_fail_here(&err);
	}
	if (client_post_to_file(c, "/api/v1/backup", fd, &err) != 0) {
		close(fd);
		unlink(part);
		return verb_fail(&err);
	}
	int result = fsync(fd) != 0 ? err_sys(&err, "cannot write %s", part) : 0;
	if (close(fd) != 0 && result == 0)
		result = err_sys(&err, "cannot write %s", part);
	if (result == 0 && rename(part, path) != 0)
		result = err_sys(&err, "cannot write %s", path);
	if (result == 0)
		return EXIT_OK;
	unlink(part);
	return verb_fail_here(&err);
}
