/* Jobs: the queue, one job with its log, and what a person may do with them. */

#include "db/db.h"
#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void write_progress(struct jsonw *j, const char *progress)
{
	jsonw_key(j, "progress");
	if (*progress)
		jsonw_raw(j, progress, strlen(progress));
	else
		jsonw_null(j);
}

static void write_job(struct jsonw *j, struct unschedulable *unschedulable, const struct view_job *row)
{
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_string(j, "repo", row->repo);
	answer_branch(j, row->branch);
	answer_text(j, "base", row->base);
	answer_text(j, "base_how", row->base_how);
	jsonw_kv_string(j, "target", row->target);
	answer_text(j, "subject", row->subject);
	jsonw_kv_string(j, "kind", jobkind_name(row->kind));
	answer_text(j, "suite", row->suite);
	answer_text(j, "cells", row->cells_glob);
	answer_text(j, "base_provider", row->base_provider);
	answer_text(j, "target_provider", row->target_provider);
	answer_text(j, "base_config", row->base_config);
	answer_text(j, "target_config", row->target_config);
	answer_text(j, "base_toolchain", row->base_toolchain);
	answer_text(j, "target_toolchain", row->target_toolchain);
	answer_text(j, "base_flags", row->base_flags);
	answer_text(j, "target_flags", row->target_flags);
	jsonw_kv_bool(j, "quick", row->quick);
	answer_text(j, "device_kind", row->device_kind);
	jsonw_kv_string(j, "origin", row->origin);
	jsonw_kv_string(j, "state", jobstate_name(row->state));
	answer_text(j, "state_why",
		*row->state_why || row->state != JOBSTATE_QUEUED ? row->state_why : unschedulable_hold(unschedulable));
	write_progress(j, row->progress);
	jsonw_kv_int(j, "attempt", row->attempt);
	answer_text(j, "device", row->device);
	answer_id(j, "comparison", row->comparison);
	answer_text(j, "verdict", row->comparison ? verdict_name(row->verdict) : "");
	answer_time(j, "queued_at", row->queued_at);
	answer_time(j, "started_at", row->started_at);
	answer_time(j, "ended_at", row->ended_at);
	answer_time(j, "again_at", row->again_at);
	answer_id(j, "again_of", row->again_of);
	answer_text(j, "no_device", row->state == JOBSTATE_QUEUED ? unschedulable_of(unschedulable, row->id) : "");
	jsonw_object_end(j);
}

struct job_list {
	struct answer_list list;
	struct unschedulable unschedulable;
};

static void list_row(void *arg, const struct view_job *row)
{
	struct job_list *jobs = arg;
	if (answer_list_take(&jobs->list, row->id, row->queued_at, row->repo))
		write_job(&jobs->list.j, &jobs->unschedulable, row);
}

void api_jobs(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_list jobs = { .unschedulable = { .site = site } };
	struct answer_list *list = &jobs.list;
	const char *state;
	int64_t before;
	int result;
	if (answer_choice(r, response, "state", answer_job_states(), &state) != 0 ||
		answer_list_begin(site->db, r, response, list, &before) != 0 ||
		answer_list_seek(site->db, r, response, list, VIEW_LIST_JOBS, &before) != 0)
		return;
	do
		result = view_jobs(site->db, state, before, list->rows, list_row, &jobs, &err);
	while (result == 0 && answer_list_more(list, &before));
	unschedulable_fini(&jobs.unschedulable);
	answer_list_end(r, response, list, result, &err);
}

struct one_job {
	struct jsonw j;
	struct unschedulable unschedulable;
};

static void only_row(void *arg, const struct view_job *row)
{
	struct one_job *one = arg;
	write_job(&one->j, &one->unschedulable, row);
}

void api_job(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "job");
	struct one_job one = { .unschedulable = { .site = site, .job = id } };
	if (id < 0)
		return;
	answer_json(response, &one.j);
	if (view_job(site->db, id, only_row, &one, &err) != 0)
		answer_error(r, response, &err);
	unschedulable_fini(&one.unschedulable);
}

/* ---- its log ---------------------------------------------------------------------------------------------------------- */

static void log_row(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)id;
	struct buf *out = arg;
	char text[32];
	clock_format(at, text);
	buf_printf(out, "%s  %s\n", text, line);
}

struct build_reading {
	struct buf *out;
	const char *side;
};

static void build_log(void *arg, const struct view_build *row)
{
	struct build_reading *b = arg;
	buf_printf(b->out, "\n%s build %s, %s, %lld ms", b->side, row->state, row->toolchain, (long long)row->duration_ms);
	if (*row->detail)
		buf_printf(b->out, ": %s", row->detail);
	buf_putc(b->out, '\n');
	buf_append(b->out, row->log, row->log_len);
	if (row->log_len && ((const char *)row->log)[row->log_len - 1] != '\n')
		buf_putc(b->out, '\n');
}

static void remember_comparison(void *arg, const struct view_job *row)
{
	*(int64_t *)arg = row->comparison;
}

void api_job_log(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const sides[] = { "base", "target" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t comparison = 0, id = answer_path_id(r, response, "job");
	if (id < 0)
		return;
	/* bytes as the build printed them: as plain text they do nothing in a browser */
	response->type = "text/plain; charset=utf-8";
	int result = view_job(site->db, id, remember_comparison, &comparison, &err);
	if (result == 0)
		result = view_log(site->db, id, 0, VIEW_HISTORY_MAX, log_row, &response->body, &err);
	for (int i = 0; result == 0 && comparison && i < 2; i++) {
		struct build_reading b = { .out = &response->body, .side = sides[i] };
		result = view_build(site->db, comparison, sides[i], build_log, &b, &err);
		if (result != 0 && err.code == ERR_NOT_FOUND) { /* that side was not built */
			err_clear(&err);
			result = 0;
		}
	}
	if (result != 0)
		answer_error(r, response, &err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static void job_post(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "base", .text = &request.base },
		{ "target", .text = &request.target }, { "suite", .text = &request.suite },
		{ "device", .text = &request.device_kind }, { "cells", .text = &request.cells_glob },
		{ "base_provider", .text = &request.base_provider }, { "target_provider", .text = &request.target_provider },
		{ "base_config", .text = &request.base_config }, { "target_config", .text = &request.target_config },
		{ "base_toolchain", .text = &request.base_toolchain }, { "target_toolchain", .text = &request.target_toolchain },
		{ "base_flags", .text = &request.base_flags }, { "target_flags", .text = &request.target_flags },
		{ "quick", .flag = &request.quick }, { 0 } };
	int64_t id;
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	if (!request.repo || !request.target) {
		answer_problem(r, response, 400, "repo and target are needed");
	} else if (site->act->enqueue(site->control, &request, &id, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		char page[48];
		snprintf(page, sizeof page, "/jobs/%lld", (long long)id);
		if (!write_back_to(r, response, page))
			answer_new(response, "jobs", id, jobstate_name(JOBSTATE_QUEUED));
	}
	json_decref(root);
}

void api_job_post(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, job_post);
}

void api_job_cancel(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "job");
	if (id < 0)
		return;
	if (site->act->cancel(site->control, id, http_who(r), &err) != 0)
		answer_error(r, response, &err);
	else if (!write_back_to(r, response, "/jobs"))
		answer_state(response, id, jobstate_name(JOBSTATE_CANCELLED));
}

static void job_retry(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t new_id, id = answer_path_id(r, response, "job");
	if (id < 0)
		return;
	if (site->act->retry(site->control, id, &new_id, &err) != 0) {
		answer_error(r, response, &err);
	} else if (!write_back_to(r, response, "/jobs")) {
		answer_new(response, "jobs", new_id, jobstate_name(JOBSTATE_QUEUED));
	}
}

void api_job_retry(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, job_retry);
}
