/* history.c - history of a cell, with environment changes, change points and alerts. */

#include "web/api/internal.h"

enum { POINTS_DEFAULT = 500, BRANCH_BYTES_MAX = 16 << 10 };

/* An answer may have ten thousand points, so keys are written without escaping. */
#define FIGURE(j, row, field) jsonw_literal_figure(j, #field, (row)->field)

struct points {
	struct jsonw *j;
	bool has_metric;
	struct buf branch, shown; /* branch of the last point, NUL-terminated, and its display name */
};

/* Set the branch of a point, which most points share with the one before. */
static void point_branch(struct points *points, const char *branch)
{
	struct jsonw *j = points->j;
	if (points->branch.len == 0 || strcmp(branch, points->branch.data) != 0) {
		buf_clear(&points->branch);
		buf_clear(&points->shown);
		buf_append(&points->branch, branch, strlen(branch) + 1);
		utf8_show(&points->shown, branch, strlen(branch), "");
		buf_append(&points->shown, "", 1);
		j->out->failed |= points->branch.failed || points->shown.failed;
	}
	jsonw_literal(j, "branch");
	jsonw_string(j, branch);
	jsonw_literal(j, "branch_display");
	jsonw_string(j, points->shown.data);
}

static void point_row(void *arg, const struct view_point *row)
{
	struct points *points = arg;
	struct jsonw *j = points->j;
	char at[32];
	clock_format(row->finished_at, at);
	jsonw_object(j);
	jsonw_literal(j, "comparison");
	jsonw_int(j, row->comparison);
	jsonw_literal(j, "commit");
	jsonw_string(j, row->commit);
	point_branch(points, row->branch);
	jsonw_literal(j, "device");
	jsonw_string(j, row->device);
	jsonw_literal_plain(j, "finished_at", at);
	FIGURE(j, row, median_ms);
	FIGURE(j, row, base_median_ms);
	if (points->has_metric)
		jsonw_literal_figure(j, "value", row->metric);
	FIGURE(j, row, tflops);
	FIGURE(j, row, held_tflops);
	FIGURE(j, row, change_pct);
	FIGURE(j, row, ci_low_pct);
	FIGURE(j, row, ci_high_pct);
	jsonw_literal(j, "baseline_period");
	if (row->baseline_period)
		jsonw_int(j, row->baseline_period);
	else
		jsonw_null(j);
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
	jsonw_format(arg,
		"{ id=%lld started_at=%lld{time} suite=%s reference=%s first_reference=%s class=%lld model=%s driver?=%s toolkit?=%s cudnn?=%s isolation=%s held_mhz=%g power_limit_w=%g }",
		(long long)row->id, (long long)row->started_at, row->suite, row->reference, row->first_reference,
		(long long)row->class, row->model, row->driver, row->toolkit, row->cudnn, row->isolation, row->held_mhz,
		row->power_limit_w);
}

/* Write the job and the comparison of one measurement of a change. */
static void measured(struct jsonw *j, const char *key, int64_t job, int64_t comparison)
{
	jsonw_key(j, key);
	jsonw_object(j);
	jsonw_format(j, "job?=%lld comparison?=%lld", (long long)job, (long long)comparison);
}

static void environment_row(void *arg, const struct view_environment_change *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_format(j, "id=%lld seen_at=%lld{time} suite=%s device=%s changed=%s{json}", (long long)row->id,
		(long long)row->seen_at, row->suite, row->device, row->changed_json);
	measured(j, "paired", row->paired_job, row->paired);
	jsonw_format(j, "change_pct=%g ci_low_pct=%g ci_high_pct=%g", row->paired_pct, row->paired_low_pct, row->paired_high_pct);
	jsonw_object_end(j);
	measured(j, "unpaired", row->unpaired_job, row->unpaired);
	jsonw_kv_figure(j, "change_pct", row->unpaired_pct);
	jsonw_object_end(j);
	jsonw_format(j, "alert?=%lld", (long long)row->alert);
	jsonw_object_end(j);
}

static void change_row(void *arg, const struct store_change *row)
{
	jsonw_format(arg,
		"{ id=%lld kind=%s origin=%s state=%s baseline_period=%lld before=%s commit=%s change_pct=%g comparison?=%lld found_at=%lld{time} decided_at=%lld{time} ended_at=%lld{time} alert?=%lld }",
		(long long)row->id, row->kind, row->origin, row->state, (long long)row->baseline_period, row->before_sha,
		row->commit_sha, row->change_pct, (long long)row->comparison, (long long)row->found_at,
		(long long)row->decided_at, (long long)row->ended_at, (long long)row->alert);
}

static void alert_row(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit)
{
	jsonw_format(arg, "{ id=%lld kind=%s state=%s commit=%s }", (long long)id, alertkind_name(kind), alertstate_name(state),
		commit);
}

/* Write the lists of the answer; the points last, because they are many. */
static int write_lists(struct site *site, struct jsonw *j, const struct view_scope *of, int limit, struct fw_err *err)
{
	jsonw_kv_array(j, "baseline_periods");
	if (view_baseline_periods(site->db, of, baseline_period_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	jsonw_kv_array(j, "environments");
	if (view_environment_changes(site->db, of, environment_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	jsonw_kv_array(j, "change_points");
	if (view_changes(site->db, of, change_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	jsonw_kv_array(j, "alerts");
	if (view_cell_alerts(site->db, of, alert_row, j, err) != 0)
		return -1;
	jsonw_array_end(j);
	jsonw_kv_array(j, "items");
	struct points points = { .j = j, .has_metric = of->metric != NULL };
	buf_init(&points.branch, BRANCH_BYTES_MAX);
	buf_init(&points.shown, BRANCH_BYTES_MAX);
	int result = view_history(site->db, of, limit, point_row, &points, err);
	buf_fini(&points.branch);
	buf_fini(&points.shown);
	return result;
}

int api_history(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct scope scope;
	struct period period;
	struct jsonw j;
	const char *cell = http_query(r, "cell"), *limit_text = http_query(r, "limit"), *metric;
	int64_t limit = limit_text ? answer_number(limit_text) : POINTS_DEFAULT;
	if (!cell || !*cell)
		return answer_problem(r, response, 400, "cell is required: a key as shown in comparisons");
	if (limit < 1 || limit > VIEW_HISTORY_MAX)
		return answer_problem(r, response, 400, "limit must be a whole number from 1 to 10000");
	if (answer_choice(r, "metric", TREND_WORDS, &metric, err) != 0 || period_read(r, &period, err) != 0 ||
		scope_read(site, r, &scope, err) != 0)
		return -1;
	struct view_scope of = { .repo = scope.repo,
		.metric = metric ? trend_stored(trend_metric(metric, true)) : NULL,
		.branch = scope.branch,
		.cell = cell,
		.device = http_query(r, "device"),
		.since = period.since,
		.until = period.until };
	if (view_cell_known(site->db, &of, err) != 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_format(&j, "repo=%s cell=%s", scope.repo, cell);
	return answer_items_end(&j, write_lists(site, &j, &of, (int)limit, err));
}

/* ---- names of cells ------------------------------------------------------------------------------------------------ */

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
