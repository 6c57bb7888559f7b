/* bisect.c - bisects: the list, a single one, request and cancel. */
#include "web/api/internal.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void write_cells(struct jsonw *j, const char *cells)
{
	char word[256];
	jsonw_kv_array(j, "cells");
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
	jsonw_format(j,
		"id=%lld repo=%s origin=%s who?=%s alert?=%lld good=%s bad=%s suite?=%s device_kind?=%s state=%s state_why?=%s goal?=%s verdict?=%s commits=%d jobs=%d job?=%lld comparison?=%lld culprits=%s{json}",
		(long long)row->id, row->repo_name, row->origin, row->who, (long long)row->alert, row->good_sha, row->bad_sha,
		row->suite, device_kind_name(row->device_kind), row->state, row->state_why, row->goal, row->verdict, row->commits,
		row->n_jobs, (long long)row->job, (long long)row->comparison, row->culprits_json);
	write_cells(j, row->cells);
	jsonw_format(j, "created_at=%lld{time} ended_at=%lld{time}", (long long)row->created_at, (long long)row->ended_at);
	jsonw_object_end(j);
}

static void list_row(void *arg, const struct store_bisect *row)
{
	struct answer_list *list = arg;
	if (answer_list_take(list, row->id, row->created_at, row->repo_name))
		write_bisect(&list->j, row);
}

int api_bisects(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct answer_list list;
	int64_t before;
	int result;
	if (answer_list_begin(site->db, r, response, &list, &before, err) != 0 ||
		answer_list_seek(site->db, &list, VIEW_LIST_BISECTS, &before, err) != 0)
		return -1;
	do
		result = view_bisects(site->db, before, list.rows, list_row, &list, err);
	while (result == 0 && answer_list_more(&list, &before));
	return answer_list_end(r, response, &list, result);
}

int api_bisect(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	int64_t id = answer_path_id(r, "bisect", err);
	answer_json(response, &j);
	return id < 0 ? -1 : view_bisect(site->db, id, write_bisect, &j, err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static int bisect_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	int64_t id;
	json_t *root = write_take_request(r, response, "repo good bad suite device cells", NULL, &request);
	if (!root)
		return -1;
	request.who = http_who(r);
	int result = !request.repo || !request.base || !request.target
			     ? err_set(err, ERR_INVALID, "repo, good and bad are required")
			     : site->act->bisect(site->control, &request, &id, err);
	if (result == 0)
		answer_new(response, "bisects", id, "listing");
	json_decref(root);
	return result;
}

int api_bisect_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, bisect_post, err);
}

int api_bisect_cancel(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "bisect", err);
	if (id < 0 || site->act->cancel_bisect(site->control, id, http_who(r), err) != 0)
		return -1;
	if (!write_back_to(r, response, "/bisects"))
		answer_state(response, id, "cancelled");
	return 0;
}
