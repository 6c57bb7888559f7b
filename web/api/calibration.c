/* Calibration: what comparisons of equal builds have shown of each cell, and asking for more of them. */
#include "db/db.h"
#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

static void cell_row(void *arg, const struct view_calibration *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "repo", row->repo);
	jsonw_kv_string(j, "suite", row->suite);
	jsonw_kv_int(j, "class", row->class);
	jsonw_kv_string(j, "model", row->model);
	jsonw_kv_string(j, "cell", row->cell);
	jsonw_kv_int(j, "comparisons", row->comparisons);
	jsonw_kv_int(j, "alarms", row->alarms);
	jsonw_kv_int(j, "runs", row->runs);
	jsonw_kv_figure(j, "tau0_pct", row->tau0_pct);
	jsonw_kv_figure(j, "mde_pct", row->mde_pct);
	jsonw_kv_bool(j, "underpowered", row->underpowered);
	answer_time(j, "updated_at", row->updated_at);
	jsonw_object_end(j);
}

void api_calibration(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	const char *repo = http_query(r, "repo");
	struct jsonw j;
	int64_t id;
	if (answer_device(site->db, r, response) != 0)
		return;
	if (repo && *repo && view_repo_id(site->db, repo, &id, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	answer_items_begin(response, &j);
	if (view_calibrations(site->db, repo, http_query(r, "device"), clock_utc_ms(), cell_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}

static void calibrate(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	int runs = SITE_CALIBRATIONS;
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "suite", .text = &request.suite },
		{ "device", .text = &request.device_kind }, { "runs", .number = &runs, .number_max = SITE_CALIBRATIONS_MAX },
		{ 0 } };
	int64_t jobs[SITE_CALIBRATIONS_MAX];
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	if (site->act->calibrate(site->control, &request, runs, jobs, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_new_jobs(response, jobs, runs);
	}
	json_decref(root);
}

void api_calibrate(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, calibrate);
}

void api_calibration_forget(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	struct jsonw j;
	int forgotten;
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "cells", .text = &request.cells_glob },
		{ "device", .text = &request.device_kind }, { 0 } };
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	if (site->act->forget(site->control, &request, http_who(r), &forgotten, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_json(response, &j);
		jsonw_object(&j);
		jsonw_kv_int(&j, "forgotten", forgotten);
		jsonw_object_end(&j);
	}
	json_decref(root);
}
