/* Searches for culprits: the list, one of them as it stands, and what a person may ask for. */
#include <stdio.h>

#include "db/db.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void write_cells(struct jsonw *j, const char *cells)
{
	char word[256];
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (const char *at = cells; *at;) {
		size_t n = strcspn(at, " ");
		snprintf(word, sizeof word, "%.*s", (int)n, at);
		jsonw_string(j, word);
		at += n + strspn(at + n, " ");
	}
	jsonw_array_end(j);
}

static void write_bisect(void *arg, const struct store_bisect *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_string(j, "repo", row->repo_name);
	jsonw_kv_string(j, "origin", row->origin);
	answer_id(j, "alert", row->alert);
	jsonw_kv_string(j, "good", row->good_sha);
	jsonw_kv_string(j, "bad", row->bad_sha);
	answer_text(j, "suite", row->suite);
	answer_text(j, "device_kind", device_kind_name(row->device_kind));
	jsonw_kv_string(j, "state", row->state);
	answer_text(j, "state_why", row->state_why);
	answer_text(j, "goal", row->goal);
	answer_text(j, "verdict", row->verdict);
	jsonw_kv_int(j, "commits", row->commits);
	jsonw_kv_int(j, "jobs", row->n_jobs);
	answer_id(j, "job", row->job);
	answer_id(j, "comparison", row->comparison);
	jsonw_key(j, "culprits");
	jsonw_raw(j, row->culprits_json, strlen(row->culprits_json));
	write_cells(j, row->cells);
	answer_time(j, "created_at", row->created_at);
	answer_time(j, "ended_at", row->ended_at);
	jsonw_object_end(j);
}

static void list_row(void *arg, const struct store_bisect *row)
{
	struct answer_list *list = arg;
	if (answer_list_take(list, row->id, row->created_at, row->repo_name))
		write_bisect(&list->j, row);
}

void api_bisects(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct answer_list list;
	int64_t before;
	int result;
	if (answer_list_begin(site->db, r, response, &list, &before) != 0 ||
		answer_list_seek(site->db, r, response, &list, VIEW_LIST_BISECTS, &before) != 0)
		return;
	do
		result = view_bisects(site->db, before, list.rows, list_row, &list, &err);
	while (result == 0 && answer_list_more(&list, &before));
	answer_list_end(r, response, &list, result, &err);
}

void api_bisect(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	int64_t id = answer_path_id(r, response, "bisect");
	if (id < 0)
		return;
	answer_json(response, &j);
	if (view_bisect(site->db, id, write_bisect, &j, &err) != 0)
		answer_error(r, response, &err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static void bisect_post(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "good", .text = &request.base },
		{ "bad", .text = &request.target }, { "suite", .text = &request.suite },
		{ "device", .text = &request.device_kind }, { "cells", .text = &request.cells_glob }, { 0 } };
	int64_t id;
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	if (!request.repo || !request.base || !request.target) {
		answer_problem(r, response, 400, "repo, good and bad are needed");
	} else if (site->act->bisect(site->control, &request, &id, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_new(response, "bisects", id, "listing");
	}
	json_decref(root);
}

void api_bisect_post(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, bisect_post);
}

void api_bisect_cancel(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "bisect");
	if (id < 0)
		return;
	if (site->act->cancel_bisect(site->control, id, http_who(r), &err) != 0)
		answer_error(r, response, &err);
	else if (!write_back_to(r, response, "/bisects"))
		answer_state(response, id, "cancelled");
}
