/* calibration.c - noise of each cell from comparisons of equal builds; requests to measure or delete it. */

#include "web/api/internal.h"

static void cell_row(void *arg, const struct view_calibration *row)
{
	jsonw_format(arg,
		"{ repo=%s suite=%s class=%lld model=%s cell=%s comparisons=%d alarms=%d runs=%d tau0_pct=%g mde_pct=%g underpowered=%i updated_at=%lld{time} }",
		row->repo, row->suite, (long long)row->class, row->model, row->cell, row->comparisons, row->alarms, row->runs,
		row->tau0_pct, row->mde_pct, row->underpowered, (long long)row->updated_at);
}

int api_calibration(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *repo = http_query(r, "repo");
	struct jsonw j;
	int64_t id;
	if (answer_device(site->db, r, err) != 0 || (repo && *repo && view_repo_id(site->db, repo, &id, err) != 0))
		return -1;
	answer_items_begin(response, &j);
	return answer_items_end(
		&j, view_calibrations(site->db, repo, http_query(r, "device"), clock_utc_ms(), cell_row, &j, err));
}

static int calibrate(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	int runs = SITE_CALIBRATIONS;
	const struct write_key count = { "runs", .number = &runs, .number_max = SITE_CALIBRATIONS_MAX };
	int64_t jobs[SITE_CALIBRATIONS_MAX];
	json_t *root = write_take_request(r, response, "repo suite device", &count, &request);
	if (!root)
		return -1;
	int result = site->act->calibrate(site->control, &request, runs, jobs, err);
	if (result == 0)
		answer_new_jobs(response, jobs, runs);
	json_decref(root);
	return result;
}

int api_calibrate(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, calibrate, err);
}

int api_calibration_forget(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	struct jsonw j;
	int forgotten;
	json_t *root = write_take_request(r, response, "repo cells device", NULL, &request);
	if (!root)
		return -1;
	int result = site->act->forget(site->control, &request, http_who(r), &forgotten, err);
	if (result == 0) {
		answer_json(response, &j);
		jsonw_object(&j);
		jsonw_kv_int(&j, "forgotten", forgotten);
		jsonw_object_end(&j);
	}
	json_decref(root);
	return result;
}
