/* jobs: the queue, what ended lately, and why it does not move. */

#include "cli/internal.h"
#include "model/model.h"

/* Why a job is where it is: what holds its device up, the cell at hand, or the reason of its state. */
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

static void print_jobs(const json_t *items)
{
	static const char *const titles[] = { ">job", "~repo", "branch", "~base", "target", "~suite", "state", "~since", "~why" };
	struct table t;
	table_init(&t, 9, titles);
	size_t i;
	json_t *job;
	json_array_foreach(items, i, job)
	{
		const char *ended = value_text(job, "ended_at"), *started = value_text(job, "started_at");
		table_cell(&t, "%lld", value_integer(job, "id"));
		table_cell(&t, "%s", value_text(job, "repo"));
		table_cell(&t, "%s", value_branch(job));
		table_cell(&t, "%.10s", value_text(job, "base"));
		table_cell(&t, "%.10s", value_text(job, "target"));
		table_cell(&t, "%s", value_text(job, "suite"));
		table_cell(&t, "%s", value_text(job, "state"));
		table_cell(&t, "%.19s", *ended ? ended : *started ? started : value_text(job, "queued_at"));
		table_cell(&t, "%s", why(job));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* The list may be of one state, or end before the oldest that waits. */
static void print_why_nothing_moves(struct client *c, const struct options *o)
{
	struct fw_err ignored = { 0 };
	struct buf path;
	json_t *answer = NULL;
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/jobs?state=open");
	client_query(&path, "repo", o->repo);
	blockers_broken(c, o->repo);
	if (client_get(c, path.data, &answer, &ignored) == 0 && json_array_size(json_object_get(answer, "items")))
		blockers_waiting(c, json_object_get(answer, "items"));
	json_decref(answer);
	buf_fini(&path);
}

int verb_jobs(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/jobs");
	client_query(&path, "state", o->state);
	client_query(&path, "repo", o->repo);
	if (o->limit)
		buf_printf(&path, "%climit=%d", strchr(path.data, '?') ? '&' : '?', o->limit);
	int status = verb_show(c, o, &path, print_jobs, NULL);
	buf_fini(&path);
	bool of_open =
		!o->state || jobstate_from_name(o->state) == JOBSTATE_N || !jobstate_is_final(jobstate_from_name(o->state));
	if (status == EXIT_OK && !o->json && of_open)
		print_why_nothing_moves(c, o);
	return status;
}
