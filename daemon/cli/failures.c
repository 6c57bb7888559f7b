/* failures.c - see failures.c. */
#include "cli/internal.h"

#include "model/model.h"

enum { LOOK_AT = 50, RECENT = 5, PATTERN_MIN = 2, PATH_BYTES = 1024 };

static bool is_failure(enum verdict verdict)
{
	return verb_status_of_verdict(verdict) == EXIT_ERROR;
}

/* The first cell of a comparison that tells of a failure: its class, its words. */
static void read_cells(const json_t *comparison, struct failures *of)
{
	size_t i;
	json_t *cell;
	snprintf(of->class, sizeof of->class, "%s", verdict_name(value_verdict(comparison)));
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		const char *class = value_text(cell, "failure");
		if (!is_failure(value_verdict(cell)))
			continue;
		if (*class)
			snprintf(of->class, sizeof of->class, "%s", class);
		snprintf(of->text, sizeof of->text, "%s", value_text(cell, "reason"));
		return;
	}
}

/* How one job failed. 0, -1: the daemon does not say. */
static int read_job(struct client *c, const json_t *job, struct failures *of)
{
	struct fw_err ignored = { 0 };
	long long id = value_integer(job, "comparison");
	char path[64];
	json_t *comparison = NULL;
	*of = (struct failures){ .job = value_integer(job, "id"), .class = "no result" };
	snprintf(of->text, sizeof of->text, "%s", value_text(job, "state_why"));
	if (!id)
		return 0;
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", id);
	if (client_get(c, path, &comparison, &ignored) != 0)
		return -1;
	read_cells(comparison, of);
	json_decref(comparison);
	return 0;
}

/* Whether a job ended with an answer or without one; others say nothing of what it ran. */
static bool counts(const json_t *job)
{
	enum jobstate state = jobstate_from_name(value_text(job, "state"));
	return state == JOBSTATE_FAILED || (state == JOBSTATE_DONE && value_verdict(job) != VERDICT_NONE);
}

/* Newest first, up to the first that did not fail. */
static void read_jobs(struct client *c, const json_t *jobs, struct failures *out)
{
	size_t i;
	json_t *job;
	json_array_foreach(jobs, i, job)
	{
		struct failures one;
		if (!counts(job))
			continue;
		bool failed = value_integer(job, "comparison") == 0 || is_failure(value_verdict(job));
		if (!failed || read_job(c, job, &one) != 0) {
			out->n = 0;
			return;
		}
		if (out->n == 0)
			*out = one;
		out->is_one = out->n == 0 || (out->is_one && strcmp(out->class, one.class) == 0);
		if (++out->n == RECENT)
			return;
	}
}

bool failures_find(struct client *c, const char *repo, struct failures *out)
{
	struct fw_err ignored = { 0 };
	struct buf path;
	json_t *answer = NULL;
	*out = (struct failures){ 0 };
	buf_init(&path, PATH_BYTES);
	buf_printf(&path, "/api/v1/jobs?limit=%d", LOOK_AT);
	client_query(&path, "repo", repo);
	if (!path.failed && client_get(c, path.data, &answer, &ignored) == 0)
		read_jobs(c, json_object_get(answer, "items"), out);
	json_decref(answer);
	buf_fini(&path);
	return out->n >= PATTERN_MIN;
}
