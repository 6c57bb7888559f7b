/* blockers.c - documented in internal.h. */
#include "cli/internal.h"

#define warn(...) plain_line(stdout, "WARNING " __VA_ARGS__)

/* Own: the caller; NULL if the daemon does not have the list, or refuses it. */
static json_t *get(struct client *c, const char *path, struct fw_err *err)
{
	json_t *answer = NULL;
	return client_get(c, path, &answer, err) == 0 ? answer : NULL;
}

/* One line if two lists are unknown for the same reason. */
static void warn_unknown(const char *one, const struct fw_err *of_one, const char *other, const struct fw_err *of_other)
{
	char both[64];
	snprintf(both, sizeof both, "%s and %s are", one, other);
	if (of_one->code == of_other->code && strcmp(of_one->text, of_other->text) == 0) {
		verb_warn_unknown(both, of_one);
		return;
	}
	snprintf(both, sizeof both, "%s are", one);
	verb_warn_unknown(both, of_one);
	snprintf(both, sizeof both, "%s are", other);
	verb_warn_unknown(both, of_other);
}

static void print_health(struct client *c)
{
	struct fw_err err = { 0 };
	struct buf text;
	buf_init(&text, 1 << 16);
	if (client_get_raw(c, "/healthz", &text, &err) != 0) {
		if (client_status(c) == 503) /* with its reason */
			warn("no job begins: %s", err.text);
		else
			warn("whether jobs begin is unknown: %s", err.text);
	}
	buf_fini(&text);
}

void blockers_broken(struct client *c, const char *repo)
{
	struct fw_err of_repos = { 0 }, of_workers = { 0 };
	json_t *repos = get(c, "/api/v1/repos", &of_repos), *workers = get(c, "/api/v1/workers", &of_workers), *item;
	size_t i;
	print_health(c);
	warn_unknown("the repositories", &of_repos, "the workers", &of_workers);
	json_array_foreach(json_object_get(repos, "items"), i, item)
	{
		const char *name = value_text(item, "name");
		if (strcmp(value_text(item, "state"), "error") == 0 && (!repo || strcmp(repo, name) == 0))
			warn("%s: %s", name, value_text(item, "error"));
	}
	const char *reported = "";
	json_array_foreach(json_object_get(workers, "items"), i, item)
	{
		bool is_down = strcmp(value_text(item, "state"), "down") == 0;
		if (is_down && strcmp(reported, value_text(item, "name")) != 0)
			warn("worker %s is down: %s", value_text(item, "name"), value_text(item, "why"));
		if (is_down)
			reported = value_text(item, "name");
	}
	json_decref(repos);
	json_decref(workers);
}

/* ---- blocked jobs ------------------------------------------------------------------------------------------------------ */

/* Print a worker's request to its scheduler, and the reason why it waits. */
static void print_pending(const json_t *worker)
{
	const char *why = value_text(worker, "why"), *id = value_text(worker, "allocation"), *aim = value_text(worker, "to");
	char position[64] = "";
	if (value_integer(worker, "position"))
		snprintf(position, sizeof position, " at position %lld of its queue", value_integer(worker, "position"));
	warn("worker %s waits for an allocation%s%s%s%s%s%s%s", value_text(worker, "name"), *aim ? " to " : "", aim,
		*id ? ", job " : "", id, position, *why ? ": " : "", why);
}

static void print_workers(const json_t *workers)
{
	size_t i;
	json_t *worker;
	if (workers && json_array_size(json_object_get(workers, "items")) == 0)
		warn("there is no worker: add one under workers: in flopwatchd.yml");
	json_array_foreach(json_object_get(workers, "items"), i, worker)
	{
		if (strcmp(value_text(worker, "state"), "starting") == 0)
			warn("worker %s is starting: it has not reported its devices yet", value_text(worker, "name"));
		if (strcmp(value_text(worker, "state"), "pending") == 0)
			print_pending(worker);
	}
}

static void print_devices(const json_t *devices)
{
	size_t i;
	json_t *device;
	json_array_foreach(json_object_get(devices, "items"), i, device)
	{
		const char *uuid = value_text(device, "uuid"), *why = value_text(device, "state_why");
		switch (devicestate_from_name(value_text(device, "state"))) {
		case DEVICESTATE_PAUSED:
			warn("device %s is paused (%s): it gets jobs again with flopwatch resume %s", uuid, why, uuid);
			break;
		case DEVICESTATE_QUARANTINED:
			warn("device %s is quarantined (%s): flopwatch resume %s tries it (see "
			     "doc/troubleshooting.md#quarantined)",
				uuid, why, uuid);
			break;
		case DEVICESTATE_HEALTH_CHECK:
			warn("device %s is being tried before it gets jobs again", uuid);
			break;
		case DEVICESTATE_ABSENT: /* possibly removed for good; a job that waits for it reports this */
		case DEVICESTATE_OK:
		case DEVICESTATE_N:
			break;
		}
	}
}

/* Notes of jobs that have a device. */
static void print_jobs(const json_t *open)
{
	size_t i;
	json_t *job;
	json_array_foreach(open, i, job)
	{
		const char *note = value_text(json_object_get(job, "progress"), "note");
		if (*note && jobstate_from_name(value_text(job, "state")) != JOBSTATE_QUEUED)
			warn("J%lld: %s", value_integer(job, "id"), note);
	}
}

/* Print each requirement that no worker meets once, however many jobs have it. */
static void print_unschedulable(const json_t *open)
{
	size_t i;
	json_t *job, *reported = json_object();
	json_array_foreach(open, i, job)
	{
		const char *what = value_text(job, "no_device");
		json_t *count = *what ? json_object_get(reported, what) : NULL;
		if (count)
			json_integer_set(count, json_integer_value(count) + 1);
		else if (*what)
			json_object_set_new(reported, what, json_integer(0));
	}
	json_array_foreach(open, i, job)
	{
		char more[48] = "";
		const char *what = value_text(job, "no_device");
		const json_t *count = *what ? json_object_get(reported, what) : NULL;
		if (!count)
			continue;
		if (json_integer_value(count))
			snprintf(more, sizeof more, " (and %lld more)", (long long)json_integer_value(count));
		warn("J%lld%s %s", value_integer(job, "id"), more, what);
		json_object_del(reported, what);
	}
	json_decref(reported);
}

void blockers_waiting(struct client *c, const json_t *open)
{
	bool waits = false;
	size_t i;
	json_t *job;
	json_array_foreach(open, i, job)
	{
		waits = waits || jobstate_from_name(value_text(job, "state")) == JOBSTATE_QUEUED;
	}
	struct fw_err of_devices = { 0 }, of_workers = { 0 };
	json_t *devices = waits ? get(c, "/api/v1/devices", &of_devices) : NULL;
	json_t *workers = waits ? get(c, "/api/v1/workers", &of_workers) : NULL;
	if (waits) {
		warn_unknown("the devices", &of_devices, "the workers", &of_workers);
		print_workers(workers);
		print_devices(devices);
		print_unschedulable(open);
	}
	print_jobs(open);
	json_decref(devices);
	json_decref(workers);
}
