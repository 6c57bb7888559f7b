/* profile.c - profiles: the list, each one as it stands, and what a person may ask for. */
#include "web/page/internal.h"

#include "web/answer/answer.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void list_row(void *arg, const struct view_profile *row)
{
	struct answer_list *list = arg;
	if (!answer_list_take(list, row->id, row->queued_at, row->repo))
		return;
	jsonw_object(&list->j);
	profile_json_row(&list->j, row);
	jsonw_object_end(&list->j);
}

/* A number that narrows the list; 0 where it is not given. -1 and the problem is written. */
static int64_t filter(struct http_request *r, struct http_response *response, const char *name, const char *problem)
{
	const char *text = http_query(r, name);
	if (!text || !*text)
		return 0;
	int64_t id = answer_number(text);
	if (id > 0 && id <= INT32_MAX)
		return id;
	answer_problem(r, response, 400, problem);
	return -1;
}

void api_profiles(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct answer_list list;
	struct view_profile_filter f = { .alert = filter(r, response, "alert", "alert is the number of one") };
	int result;
	if (f.alert < 0)
		return;
	f.comparison = filter(r, response, "comparison", "comparison is the number of one");
	if (f.comparison < 0)
		return;
	if (f.alert && f.comparison) {
		answer_problem(r, response, 400, "alert or comparison, not both");
		return;
	}
	if (answer_list_begin(site->db, r, response, &list, &f.before) != 0)
		return;
	do {
		f.limit = list.rows;
		result = view_profiles(site->db, &f, list_row, &list, &err);
	} while (result == 0 && answer_list_more(&list, &f.before));
	answer_list_end(r, response, &list, result, &err);
}

static void one_row(void *arg, const struct view_profile *row)
{
	profile_json_row(arg, row);
}

void api_profile(void *arg, struct http_request *r, struct http_response *response)
{
	enum answer_form form = answer_form_wanted(r);
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	if (form == ANSWER_CSV) {
		api_profile_csv(arg, r, response);
		return;
	}
	if (form == ANSWER_MARKDOWN) {
		api_profile_md(arg, r, response);
		return;
	}
	int64_t id = answer_path_id(r, response, "profile");
	if (id < 0)
		return;
	answer_json(response, &j);
	jsonw_object(&j);
	int result = view_profile(site->db, id, one_row, &j, &err);
	if (result == 0)
		result = profile_json_diagnostics(site->db, id, &j, &err);
	if (result == 0)
		result = configurations_json(site->db, id, &j, &err);
	if (result == 0)
		result = profile_json_cells(site->db, id, &j, &err);
	jsonw_object_end(&j);
	if (result != 0)
		answer_error(r, response, &err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static void profile_post(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	int64_t id;
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "base", .text = &request.base },
		{ "target", .text = &request.target }, { "suite", .text = &request.suite },
		{ "device", .text = &request.device_kind }, { "cells", .text = &request.cells_glob },
		{ "base_provider", .text = &request.base_provider }, { "target_provider", .text = &request.target_provider },
		{ "base_config", .text = &request.base_config }, { "target_config", .text = &request.target_config },
		{ "base_toolchain", .text = &request.base_toolchain }, { "target_toolchain", .text = &request.target_toolchain },
		{ "base_flags", .text = &request.base_flags }, { "target_flags", .text = &request.target_flags },
		{ "every_cell", .flag = &request.every_cell }, { "alert", .number = &request.alert, .number_max = INT32_MAX },
		{ "comparison", .number = &request.comparison, .number_max = INT32_MAX }, { 0 } };
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	bool is_of = request.alert || request.comparison, has_sides = request.repo && request.base && request.target;
	if ((request.alert && request.comparison) || (is_of && (request.repo || request.base || request.target)) ||
		(!is_of && !has_sides))
		answer_problem(r, response, 400, "an alert, or a comparison, or repo, base and target are needed");
	else if (site->act->profile(site->control, &request, &id, &err) != 0)
		answer_error(r, response, &err);
	else if (!write_back_to(r, response, "/jobs"))
		answer_new(response, "profiles", id, jobstate_name(JOBSTATE_QUEUED));
	json_decref(root);
}

void api_profile_post(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, profile_post);
}
