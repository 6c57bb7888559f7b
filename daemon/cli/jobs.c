/* jobs: the queue, recently ended jobs, and why jobs do not progress. */

#include "cli/internal.h"

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

static void why_cell(struct table *t, const json_t *job)
{
	const char *text = why(job);
	char behind[VALUE_BEHIND_SIZE];
	value_behind(job, behind);
	table_cell(t, "%s", *text ? text : behind);
}

static const char *since(const json_t *job)
{
	const char *ended = value_text(job, "ended_at"), *started = value_text(job, "started_at");
	return *ended ? ended : *started ? started : value_text(job, "queued_at");
}

static void age_cell(struct table *t, const json_t *job)
{
	const char *key = *value_text(job, "ended_at") ? "ended_at" : *value_text(job, "started_at") ? "started_at" : "queued_at";
	char age[VALUE_AGE_SIZE];
	value_age(job, key, age);
	table_cell(t, "%s", age);
}

static void id_cell(struct table *t, const json_t *job)
{
	table_cell(t, "J%lld", value_integer(job, "id"));
}

/* The branch; of a job without one, such as a profile, that of another job with its target, else the target. */
static void branch_cell(struct table *t, const json_t *job)
{
	const char *branch = value_text(job, "of_branch");
	table_cell_if(t, *branch, "%s", branch);
}

static void state_cell(struct table *t, const json_t *job)
{
	const char *verdict = value_text(job, "verdict");
	enum jobkind kind = jobkind_from_name(value_text(job, "kind"));
	table_cell(t, "%s%s%s", value_text(job, "state"), *verdict ? ": " : "",
		*verdict ? verdict_label(kind, verdict_from_name(verdict)) : "");
}

static void name_branches(json_t *items)
{
	size_t i, k;
	json_t *job, *other;
	json_array_foreach(items, i, job)
	{
		const char *target = value_text(job, "target");
		char name[640];
		snprintf(name, sizeof name, "%s", value_branch(job));
		json_array_foreach(items, k, other)
		{
			if (!*name && strcmp(value_text(other, "target"), target) == 0)
				snprintf(name, sizeof name, "%s", value_branch(other));
		}
		if (!*name)
			snprintf(name, sizeof name, "%.10s", target);
		json_object_set_new(job, "of_branch", json_string(name));
	}
}

/* Running jobs, then queued ones, then the others: 0, 1, 2. */
static int group_of(const json_t *job)
{
	enum jobstate state = jobstate_from_name(value_text(job, "state"));
	return jobstate_is_final(state) ? 2 : state == JOBSTATE_QUEUED;
}

/* Own: the reference. `count`: jobs of each group. */
static json_t *sort_jobs(const json_t *items, size_t count[3])
{
	json_t *rows = json_array(), *job;
	size_t i;
	for (int group = 0; group < 3; group++) {
		count[group] = 0;
		json_array_foreach(items, i, job)
		{
			if (group_of(job) != group)
				continue;
			json_array_append(rows, job);
			count[group]++;
		}
	}
	return rows;
}

static void print_jobs(const json_t *rows, bool is_long)
{
	static const struct column brief[] = { { "job", .cell = id_cell }, { "kind", .key = "kind" },
		{ "branch", .cell = branch_cell }, { "state", .cell = state_cell }, { "~since", .cell = age_cell },
		{ "~why", .cell = why_cell } };
	static const struct column all[] = { { "job", .cell = id_cell }, { "~repo", .key = "repo" }, { "kind", .key = "kind" },
		{ "branch", .cell = branch_cell }, { "~base", .key = "base", .cut = 10 },
		{ "target", .key = "target", .cut = 10 }, { "~suite", .key = "suite" }, { "state", .cell = state_cell },
		{ "~since", .text = since, .cut = 19 }, { "~why", .cell = why_cell } };
	if (is_long)
		table_print_rows(rows, 10, all, stdout);
	else if (json_array_size(rows))
		table_print_rows(rows, 6, brief, stdout);
}

static void print_next(const json_t *rows)
{
	const json_t *first = json_array_get(rows, 0);
	if (!first)
		puts("next: flopwatch status");
	else
		printf("next: flopwatch %s J%lld\n", group_of(first) == 2 ? "log" : "wait", value_integer(first, "id"));
}

/* The list may be filtered by state, or end before the oldest queued job. */
static void print_blockers(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	const struct member query[] = { { "state", .text = "open" }, { "repo", .text = o->repo }, { 0 } };
	json_t *answer = NULL;
	blockers_broken(c, o->repo);
	if (client_get_query(c, "/api/v1/jobs", query, &answer, &err) == 0 && json_array_size(json_object_get(answer, "items")))
		blockers_waiting(c, json_object_get(answer, "items"));
	verb_warn_unknown("the queue is", &err);
	json_decref(answer);
}

static void print_list(struct client *c, const struct options *o, json_t *items)
{
	bool of_open =
		!o->state || jobstate_from_name(o->state) == JOBSTATE_N || !jobstate_is_final(jobstate_from_name(o->state));
	size_t count[3];
	json_t *rows = sort_jobs(items, count);
	name_branches(items);
	printf("%zu running, %zu waiting, %zu ended\n", count[0], count[1], count[2]);
	print_jobs(rows, o->is_long);
	if (of_open)
		print_blockers(c, o);
	print_next(rows);
	json_decref(rows);
}

int verb_jobs(struct client *c, const struct options *o)
{
	const struct member query[] = { { "state", .text = o->state }, { "repo", .text = o->repo },
		{ "limit", .number = o->limit }, { 0 } };
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_get_query(c, "/api/v1/jobs", query, &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json)
		verb_print_json(answer);
	else
		print_list(c, o, json_object_get(answer, "items"));
	json_decref(answer);
	return EXIT_OK;
}
