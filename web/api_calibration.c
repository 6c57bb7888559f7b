/* Calibration: what comparisons of equal builds have shown of each cell, and asking for more of them. */
#include <stdio.h>
#include <string.h>

#include "db/store_calibration.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/idempotent.h"
#include "web/site.h"
#include "web/write.h"

enum { TEXT_MAX = 255 };

static void cell_row(void *arg, const struct view_calibration *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "device", row->device);
	jsonw_kv_string(j, "cell", row->cell);
	jsonw_kv_int(j, "comparisons", row->comparisons);
	jsonw_kv_int(j, "alarms", row->alarms);
	jsonw_kv_int(j, "launches", row->launches);
	jsonw_kv_figure(j, "tau_pct", row->tau_pct);
	jsonw_kv_figure(j, "mde_pct", row->mde_pct);
	jsonw_kv_bool(j, "blind", row->blind);
	answer_time(j, "updated_at", row->updated_at);
	jsonw_object_end(j);
}

void api_calibration(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	answer_items_begin(response, &j);
	if (view_calibrations(site->db, http_query(r, "device"), cell_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}

/* A key that no request has, or one of another type; NULL: none. */
static const char *read_wish(json_t *root, struct site_request *wish, int *runs)
{
	const char *key, *wrong = NULL;
	json_t *value;
	json_object_foreach(root, key, value)
	{
		if (strcmp(key, "repo") && strcmp(key, "suite") && strcmp(key, "device") && strcmp(key, "runs"))
			wrong = key;
	}
	const json_t *n = json_object_get(root, "runs");
	*runs = json_is_integer(n) ? (int)json_integer_value(n) : SITE_CALIBRATIONS;
	if ((n && !json_is_integer(n)) || *runs < 1 || *runs > SITE_CALIBRATIONS_MAX)
		wrong = "runs";
	*wish = (struct site_request){ .repo = write_text(root, "repo", TEXT_MAX, &wrong),
		.suite = write_text(root, "suite", TEXT_MAX, &wrong),
		.device_kind = write_text(root, "device", TEXT_MAX, &wrong) };
	return wrong;
}

void api_calibrate(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct site_request wish;
	int64_t jobs[SITE_CALIBRATIONS_MAX];
	char detail[200];
	int runs;
	if (idempotent_replay(site, r, response))
		return;
	json_t *root = write_read(r, response);
	if (!root)
		return;
	const char *wrong = read_wish(root, &wish, &runs);
	if (wrong) {
		snprintf(detail, sizeof detail,
			"key %.60s is not known, of another type or out of range; known: repo, suite, device (texts), runs (1 to "
			"%d)",
			wrong, SITE_CALIBRATIONS_MAX);
		answer_problem(r, response, 400, detail);
	} else if (site->act.calibrate(site->act.arg, &wish, runs, jobs, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_new_jobs(response, jobs, runs);
		idempotent_keep(site, r, response);
	}
	json_decref(root);
}
