/* jobs: the queue, recently ended jobs, and why jobs do not progress. */

#include "cli/internal.h"
#include "model/model.h"

/* Reason of a job's state: what occupies its device, the current cell, or the reason of its final state. */
static const char *why(const json_t *job)
{
	const json_t *progress = json_object_get(job, "progress");
	const char *cell = value_text(progress, "cell"), *note = value_text(progress, "note");
	enum jobstate state = jobstate_from_name(value_text(job, "state"));
	if (state == JOBSTATE_QUEUED && *value_text(job, "no_device"))
		return value_text(job, "no_device");
	if (jobstate_is_final(state) || state == JOBSTATE_QUEUED)
		return value_text(job, "state_why");
	if (*note)
		return note;
	bool at_cells = state == JOBSTATE_MEASURING || state == JOBSTATE_CHECKING;
	return at_cells && *cell ? cell : value_text(job, "state_why");
}

static const char *since(const json_t *job)
{
	const char *ended = value_text(job, "ended_at"), *started = value_text(job, "started_at");
	return *ended ? ended : *started ? started : value_text(job, "queued_at");
}

static void print_jobs(const json_t *answer)
{
	static const struct column columns[] = { { ">job", .integer = "id" }, { "~repo", .key = "repo" },
		{ "branch", .text = value_branch }, { "~base", .key = "base", .cut = 10 },
		{ "target", .key = "target", .cut = 10 }, { "~suite", .key = "suite" }, { "state", .key = "state" },
		{ "~since", .text = since, .cut = 19 }, { "~why", .text = why } };
	table_print_rows(json_object_get(answer, "items"), 9, columns, stdout);
}

/* The list may be filtered by state, or end before the oldest queued job. */
static void print_why_nothing_moves(struct client *c, const struct options *o)
{
	struct fw_err ignored = { 0 };
	const struct member query[] = { { "state", .text = "open" }, { "repo", .text = o->repo }, { 0 } };
	json_t *answer = NULL;
	blockers_broken(c, o->repo);
	if (client_get_query(c, "/api/v1/jobs", query, &answer, &ignored) == 0 &&
		json_array_size(json_object_get(answer, "items")))
		blockers_waiting(c, json_object_get(answer, "items"));
	json_decref(answer);
}

int verb_jobs(struct client *c, const struct options *o)
{
	const struct member query[] = { { "state", .text = o->state }, { "repo", .text = o->repo },
		{ "limit", .number = o->limit }, { 0 } };
	int status = verb_show(c, o, "/api/v1/jobs", query, print_jobs, NULL);
	bool of_open =
		!o->state || jobstate_from_name(o->state) == JOBSTATE_N || !jobstate_is_final(jobstate_from_name(o->state));
	if (status == EXIT_OK && !o->json && of_open)
		print_why_nothing_moves(c, o);
	return status;
}
