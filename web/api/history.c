/* History: one cell over time, straight from its index, and what explains it. */
#include "db/db.h"
#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

enum { POINTS_DEFAULT = 500 };

/* Ten thousand of these make an answer, so keys go out as they are. */
#define FIGURE(j, row, field) jsonw_literal_figure(j, #field, (row)->field)

static void point_row(void *arg, const struct view_point *row)
{
	struct jsonw *j = arg;
	char at[32];
	clock_format(row->finished_at, at);
	jsonw_object(j);
	jsonw_literal(j, "comparison");
	jsonw_int(j, row->comparison);
	jsonw_literal(j, "commit");
	jsonw_string(j, row->commit);
	jsonw_literal(j, "device");
	jsonw_string(j, row->device);
	jsonw_literal_plain(j, "finished_at", at);
	FIGURE(j, row, median_ms);
	FIGURE(j, row, base_median_ms);
	FIGURE(j, row, tflops);
	FIGURE(j, row, held_tflops);
	FIGURE(j, row, change_pct);
	FIGURE(j, row, ci_low_pct);
	FIGURE(j, row, ci_high_pct);
	answer_id(j, "baseline_period", row->baseline_period);
	FIGURE(j, row, reference_change_pct);
	FIGURE(j, row, reference_ci_low_pct);
	FIGURE(j, row, reference_ci_high_pct);
	jsonw_literal_plain(j, "verdict", verdict_name(row->verdict));
	jsonw_literal(j, "borderline");
	jsonw_bool(j, row->borderline);
	jsonw_object_end(j);
}

static void baseline_period_row(void *arg, const struct view_baseline_period *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	answer_time(j, "started_at", row->started_at);
	jsonw_kv_string(j, "suite", row->suite);
	jsonw_kv_string(j, "reference", row->reference);
	jsonw_kv_string(j, "first_reference", row->first_reference);
	jsonw_kv_int(j, "class", row->class);
	jsonw_kv_string(j, "model", row->model);
	answer_text(j, "driver", row->driver);
	answer_text(j, "toolkit", row->toolkit);
	answer_text(j, "cudnn", row->cudnn);
	jsonw_kv_string(j, "isolation", row->isolation);
	jsonw_kv_figure(j, "held_mhz", row->held_mhz);
	jsonw_kv_figure(j, "power_limit_w", row->power_limit_w);
	jsonw_object_end(j);
}

/* One way in which a change was measured. */
static void measured(struct jsonw *j, const char *key, int64_t job, int64_t comparison)
{
	jsonw_key(j, key);
	jsonw_object(j);
	answer_id(j, "job", job);
	answer_id(j, "comparison", comparison);
}

static void environment_row(void *arg, const struct view_environment_change *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	answer_time(j, "seen_at", row->seen_at);
	jsonw_kv_string(j, "suite", row->suite);
	jsonw_kv_string(j, "device", row->device);
	jsonw_key(j, "changed");
	jsonw_raw(j, row->changed_json, strlen(row->changed_json));
	measured(j, "paired", row->paired_job, row->paired);
	jsonw_kv_figure(j, "change_pct", row->paired_pct);
	jsonw_kv_figure(j, "ci_low_pct", row->paired_low_pct);
	jsonw_kv_figure(j, "ci_high_pct", row->paired_high_pct);
	jsonw_object_end(j);
	measured(j, "unpaired", row->unpaired_job, row->unpaired);
	jsonw_kv_figure(j, "change_pct", row->unpaired_pct);
	jsonw_object_end(j);
	answer_id(j, "alert", row->alert);
	jsonw_object_end(j);
}

static void change_row(void *arg, const struct store_change *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_string(j, "kind", row->kind);
	jsonw_kv_string(j, "origin", row->origin);
	jsonw_kv_string(j, "state", row->state);
	jsonw_kv_int(j, "baseline_period", row->baseline_period);
	jsonw_kv_string(j, "before", row->before_sha);
	jsonw_kv_string(j, "commit", row->commit_sha);
	jsonw_kv_figure(j, "change_pct", row->change_pct);
	answer_id(j, "comparison", row->comparison);
	answer_time(j, "found_at", row->found_at);
	answer_time(j, "decided_at", row->decided_at);
	answer_time(j, "ended_at", row->ended_at);
	answer_id(j, "alert", row->alert);
	jsonw_object_end(j);
}

static void alert_row(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", id);
	jsonw_kv_string(j, "kind", alertkind_name(kind));
	jsonw_kv_string(j, "state", alertstate_name(state));
	jsonw_kv_string(j, "commit", commit);
	jsonw_object_end(j);
}

static void begin_list(struct jsonw *j, const char *key)
{
	jsonw_key(j, key);
	jsonw_array(j);
}

/* The lists of the answer one after the other; the points last, because they are many. */
static int write_lists(struct site *site, struct jsonw *j, const struct view_scope *of, int limit, struct fw_err *err)
{
	begin_list(j, "baseline_periods");
	if (view_baseline_periods(site->db, of, baseline_period_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	begin_list(j, "environments");
	if (view_environment_changes(site->db, of, environment_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	begin_list(j, "change_points");
	if (view_changes(site->db, of, change_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	begin_list(j, "alerts");
	if (view_cell_alerts(site->db, of, alert_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	begin_list(j, "items");
	return view_history(site->db, of, limit, point_row, j, err);
}

int api_history(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct scope scope;
	struct period period;
	struct jsonw j;
	const char *cell = http_query(r, "cell"), *limit_text = http_query(r, "limit");
	int64_t limit = limit_text ? answer_number(limit_text) : POINTS_DEFAULT;
	if (!cell || !*cell)
		return answer_problem(r, response, 400, "cell is needed, a key as comparisons show it");
	if (limit < 1 || limit > VIEW_HISTORY_MAX)
		return answer_problem(r, response, 400, "limit must be a whole number from 1 to 10000");
	if (period_read(r, &period, err) != 0 || scope_read(site, r, &scope, err) != 0)
		return -1;
	struct view_scope of = { .repo = scope.repo,
		.branch = scope.branch,
		.cell = cell,
		.device = http_query(r, "device"),
		.since = period.since,
		.until = period.until };
	if (view_cell_known(site->db, &of, err) != 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", scope.repo);
	jsonw_kv_string(&j, "cell", cell);
	return answer_items_end(&j, write_lists(site, &j, &of, (int)limit, err));
}

/* ---- which cells there are ------------------------------------------------------------------------------------------- */

static void cell_row(void *arg, const char *key)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "cell", key);
	jsonw_object_end(j);
}

int api_cells(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct scope scope;
	struct jsonw j;
	if (scope_read(site, r, &scope, err) != 0)
		return -1;
	answer_items_begin(response, &j);
	return answer_items_end(&j, view_cell_keys(site->db, scope.repo, NULL, cell_row, &j, err));
}
