/* History: one cell over time, straight from its index. */
#include "db/store_view.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/scope.h"
#include "web/site.h"

enum { POINTS_DEFAULT = 500 };

static void point_row(void *arg, const struct view_point *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "comparison", row->comparison);
	jsonw_kv_string(j, "commit", row->commit);
	jsonw_kv_string(j, "device", row->device);
	answer_time(j, "finished_at", row->finished_at);
	jsonw_kv_figure(j, "median_ms", row->median_ms);
	jsonw_kv_figure(j, "base_median_ms", row->base_median_ms);
	jsonw_kv_figure(j, "tflops", row->tflops);
	jsonw_kv_figure(j, "change_pct", row->change_pct);
	jsonw_kv_figure(j, "ci_low_pct", row->ci_low_pct);
	jsonw_kv_figure(j, "ci_high_pct", row->ci_high_pct);
	jsonw_kv_string(j, "verdict", row->verdict);
	jsonw_kv_bool(j, "borderline", row->borderline);
	jsonw_object_end(j);
}

void api_history(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct scope scope;
	struct jsonw j;
	const char *cell = http_query(r, "cell"), *limit_text = http_query(r, "limit");
	int64_t limit = limit_text ? answer_number(limit_text) : POINTS_DEFAULT;
	if (!cell || !*cell) {
		answer_problem(r, response, 400,
			"cell is needed, a key such as attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward");
		return;
	}
	if (limit < 1 || limit > VIEW_HISTORY_MAX) {
		answer_problem(r, response, 400, "limit must be a whole number from 1 to 10000");
		return;
	}
	if (scope_read(site, r, response, &scope) != 0)
		return;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", scope.repo);
	jsonw_kv_string(&j, "cell", cell);
	jsonw_key(&j, "items");
	jsonw_array(&j);
	if (view_history(site->db, scope.repo, scope.branch, cell, http_query(r, "device"), (int)limit, point_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}
