/* History of one cell: a chart, other branches over it, and the same points as a table; without a cell, the cells to choose from. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/view/history.h"
#include "db/view/cell.h"
#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/html/chart.h"
#include "web/html/derive.h"
#include "web/html/emit.h"
#include "web/html/layout.h"
#include "web/page/page.h"
#include "web/html/picker.h"
#include "web/answer/scope.h"
#include "web/answer/site.h"

static const struct metric {
	const char *name, *label, *unit, *field;
} metrics[] = {
	{ "tflops", "Throughput", "TFLOP/s", "tflops" },
	{ "held", "At the held clock", "TFLOP/s at the clock of its environment", "held_tflops" },
	{ "anchor", "Against the anchor", "% against the anchor", "anchor_change_pct" },
	{ "peak", "Share of peak", "% of peak at the held clock", "held_tflops" },
	{ "change", "Against its base", "% against the base", "change_pct" },
	{ "ms", "Time", "ms", "median_ms" },
};
enum { METRICS = sizeof metrics / sizeof metrics[0], LOOKED_AT = 50 /* points, for whether FLOPs are known */ };

struct history {
	struct chart_point point[CHART_LINES_MAX][CHART_POINTS_MAX];
	struct chart chart;
	const struct metric *metric;
	int64_t class; /* of the newest environment */
	double held_mhz;
	double scale; /* of the metric's field: 1, or what makes it a share of peak; NAN unknown */
	bool flops;   /* of its calls are known */
	int losses;
	char summary[400];
	struct buf table;
};

/* ---- points ----------------------------------------------------------------------------------------------------------- */

static bool is_metric(const struct metric *metric, const char *name)
{
	return strcmp(metric->name, name) == 0;
}

static bool needs_flops(const struct metric *metric)
{
	return is_metric(metric, "tflops") || is_metric(metric, "held") || is_metric(metric, "peak");
}

static double value_of(const struct metric *metric, const struct view_point *row)
{
	return is_metric(metric, "ms")       ? row->median_ms
	       : is_metric(metric, "change") ? row->change_pct
	       : is_metric(metric, "anchor") ? row->anchor_change_pct
	       : is_metric(metric, "tflops") ? row->tflops
					     : row->held_tflops;
}

/* Except against the anchor, the interval is one of the change, so that of a throughput or a time follows it. */
static void set_interval(struct chart_point *p, const struct metric *metric, const struct view_point *row)
{
	double low = 1 + row->ci_low_pct / 100, high = 1 + row->ci_high_pct / 100, change = 1 + row->change_pct / 100;
	if (is_metric(metric, "change")) {
		p->low = row->ci_low_pct;
		p->high = row->ci_high_pct;
	} else if (is_metric(metric, "anchor")) {
		p->low = row->anchor_ci_low_pct;
		p->high = row->anchor_ci_high_pct;
	} else if (is_metric(metric, "ms")) {
		p->low = p->y * change / high;
		p->high = p->y * change / low;
	} else {
		p->low = p->y * low / change;
		p->high = p->y * high / change;
	}
}

static void table_row(struct buf *out, const struct view_point *row, bool flops)
{
	emit_raw(out, "<tr><td class=w>");
	layout_time(out, row->finished_at);
	emit_raw(out, "</td><td>");
	layout_commit(out, row->commit);
	emit_raw(out, flops ? "</td><td class=\"n w\">" : "</td><td class=n>");
	layout_ms(out, row->median_ms);
	if (flops) {
		emit_raw(out, "</td><td class=n>");
		layout_tflops(out, row->tflops);
	}
	emit_raw(out, "</td><td class=n>");
	layout_change(out, row->change_pct);
	emit_rawf(out, "</td><td><a href=\"/comparisons/%lld\">", (long long)row->comparison);
	layout_verdict(out, verdict_name(row->verdict));
	emit_raw(out, "</a></td></tr>\n");
}

static void take_point(void *arg, const struct view_point *row)
{
	struct history *h = arg;
	struct chart_line *line = &h->chart.line[h->chart.n_lines - 1];
	char at[32], change[32] = "no change known";
	if (line->n == CHART_POINTS_MAX)
		return;
	struct chart_point *p = &line->point[line->n++];
	p->y = h->scale * value_of(h->metric, row);
	set_interval(p, h->metric, row);
	p->at = row->finished_at;
	p->comparison = row->comparison;
	p->is_loss = row->verdict == VERDICT_REGRESSION;
	clock_format(row->finished_at, at);
	if (isfinite(row->change_pct))
		snprintf(change, sizeof change, "%+.2f %%", row->change_pct);
	snprintf(p->label, sizeof p->label, "%.10s: %.4g %s, %s, %.16s, %.16s", row->commit,
		h->flops ? row->tflops : row->median_ms, h->flops ? "TFLOP/s" : "ms", change, verdict_name(row->verdict), at);
	if (h->chart.n_lines == 1) {
		h->losses += p->is_loss;
		table_row(&h->table, row, h->flops);
	}
}

/* Points come newest first; a chart reads the other way. */
static void reverse(struct chart_line *line)
{
	for (int i = 0; i < line->n / 2; i++) {
		struct chart_point t = line->point[i];
		line->point[i] = line->point[line->n - 1 - i];
		line->point[line->n - 1 - i] = t;
	}
}

struct asked {
	struct scope scope;
	const char *cell, *device, *axis;
	char overlay[BRANCH_KEY_MAX];
};

static int add_line(struct site *site, struct history *h, const struct asked *a, const char *branch, struct fw_err *err)
{
	struct chart_line *line = &h->chart.line[h->chart.n_lines];
	struct buf name;
	line->point = h->point[h->chart.n_lines++];
	buf_init(&name, 16 * BRANCH_KEY_MAX);
	branch_text(&name, branch);
	snprintf(line->name, sizeof line->name, "%s", *branch ? name.data : "all branches");
	buf_fini(&name);
	struct view_scope of = { .repo = a->scope.repo, .branch = branch, .cell = a->cell, .device = a->device };
	int result = view_history(site->db, &of, CHART_POINTS_MAX, take_point, h, err);
	reverse(line);
	return result;
}

/* ---- events ----------------------------------------------------------------------------------------------------------- */

static struct chart_mark *new_mark(struct history *h, int64_t at, const char *tone)
{
	if (h->chart.n_marks == CHART_MARKS_MAX || at == 0)
		return NULL;
	struct chart_mark *m = &h->chart.mark[h->chart.n_marks++];
	*m = (struct chart_mark){ .at = at, .tone = tone };
	return m;
}

static void take_epoch(void *arg, const struct view_epoch *row)
{
	struct chart_mark *m = new_mark(arg, row->started_at, "");
	if (m)
		snprintf(m->label, sizeof m->label, "environment: driver %.32s, %.32s, anchor %.10s", row->driver, row->toolkit,
			row->anchor);
}

/* When the commit that a finding names was first shown: found by its comparison among the points. */
static int64_t time_of(const struct history *h, const char *commit)
{
	const struct chart_line *line = &h->chart.line[0];
	for (int i = 0; i < line->n; i++)
		if (strncmp(line->point[i].label, commit, 10) == 0)
			return line->point[i].at;
	return 0;
}

static void take_change(void *arg, const struct view_change *row)
{
	struct history *h = arg;
	struct chart_mark *m = new_mark(h, time_of(h, row->commit), row->change_pct < 0 ? "bad" : "good");
	if (m)
		snprintf(m->label, sizeof m->label, "%.16s of %+.2f %% at %.10s, %.16s", row->kind, row->change_pct, row->commit,
			row->state);
}

static void take_alert(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit)
{
	struct history *h = arg;
	struct chart_mark *m = new_mark(h, time_of(h, commit), "bad");
	if (m)
		snprintf(m->label, sizeof m->label, "alert %lld, %.16s, %.16s", (long long)id, alertkind_name(kind),
			alertstate_name(state));
}

static int add_marks(struct site *site, struct history *h, const struct asked *a, struct fw_err *err)
{
	struct view_scope of = { .repo = a->scope.repo, .branch = a->scope.branch, .cell = a->cell, .device = a->device };
	return view_epochs(site->db, &of, take_epoch, h, err) || view_changes(site->db, &of, take_change, h, err) ||
			       view_cell_alerts(site->db, &of, take_alert, h, err)
		       ? -1
		       : 0;
}

/* Held figures of a class as a share of its peak; the clock is that of the newest environment. */
static void take_device(void *arg, const struct view_device *row)
{
	struct history *h = arg;
	if (row->class != h->class)
		return;
	json_t *info = json_loads(row->info_json, 0, NULL);
	h->scale = (double)json_integer_value(json_object_get(info, "cores"));
	const struct chip *chip = derive_chip(row->name);
	h->scale = chip ? 100 / derive_peak_tflops(chip, (int)h->scale, h->held_mhz) : NAN;
	json_decref(info);
}

static void take_held(void *arg, const struct view_epoch *row)
{
	struct history *h = arg;
	h->held_mhz = row->held_mhz;
	h->class = row->class;
}

static int find_scale(struct site *site, struct history *h, const struct asked *a, struct fw_err *err)
{
	struct view_scope of = { .repo = a->scope.repo, .branch = a->scope.branch, .cell = a->cell, .device = a->device };
	h->scale = 1;
	if (!is_metric(h->metric, "peak"))
		return 0;
	h->scale = NAN;
	if (view_epochs(site->db, &of, take_held, h, err) != 0)
		return -1;
	return h->class ? view_devices(site->db, take_device, h, err) : 0;
}

/* ---- the form --------------------------------------------------------------------------------------------------------- */

static void api_address(struct buf *out, const struct asked *a, const char *branch)
{
	buf_puts(out, "/api/v1/history?repo=");
	emit_argument(out, a->scope.repo);
	buf_puts(out, "&cell=");
	emit_argument(out, a->cell);
	if (*branch) {
		buf_puts(out, "&branch=");
		emit_argument(out, branch);
	}
	if (a->device && *a->device) {
		buf_puts(out, "&device=");
		emit_argument(out, a->device);
	}
}

struct cell_list {
	struct buf *out;
	const struct asked *asked;
};

static void cell_option(void *arg, const char *key)
{
	struct cell_list *list = arg;
	layout_option(list->out, key, NULL, NULL);
}

static void cell_item(void *arg, const char *key)
{
	struct cell_list *list = arg;
	emit_raw(list->out, "<li>");
	layout_cell_link(list->out, list->asked->scope.repo, list->asked->scope.branch, key);
	emit_raw(list->out, "</li>");
}

static int form(
	struct site *site, struct buf *out, const struct asked *a, const struct metric *metric, bool flops, struct fw_err *err)
{
	struct cell_list list = { out, a };
	emit_raw(out, "<form class=filter action=/history><label class=grow>Cell <input name=cell list=cells value=\"");
	emit_attribute(out, a->cell);
	emit_raw(out, "\" placeholder=\"attention/dense/causal/...\"></label><datalist id=cells>");
	if (a->scope.repo[0] && view_cell_keys(site->db, a->scope.repo, a->scope.branch, cell_option, &list, err) != 0)
		return -1;
	emit_raw(out, "</datalist>");
	if (picker_repo(out, site->db, a->scope.repo, false, err) ||
		picker_branch(out, site->db, a->scope.repo, "branch", "Branch", a->scope.branch, "all", err) ||
		picker_branch(out, site->db, a->scope.repo, "overlay", "Over it", a->overlay, "none", err))
		return -1;
	emit_raw(out, "<label>Show <select name=metric data-go>");
	for (int i = 0; i < METRICS; i++)
		if (flops || !needs_flops(&metrics[i]))
			layout_option(out, metrics[i].name, metrics[i].label, metric->name);
	emit_raw(out, "</select></label><label>Axis <select name=axis data-go>");
	layout_option(out, "push", "by push", a->axis);
	layout_option(out, "date", "by date", a->axis);
	emit_raw(out, "</select></label>");
	if (a->device && *a->device) {
		emit_raw(out, "<label>Device <input name=device value=\"");
		emit_attribute(out, a->device);
		emit_raw(out, "\"></label>");
	}
	emit_raw(out, "<button>Show</button></form>\n");
	return 0;
}

/* No cell yet: those that the newest comparison has. */
static int offer_cells(struct site *site, struct buf *out, const struct asked *a, struct fw_err *err)
{
	struct buf items;
	struct cell_list list = { &items, a };
	buf_init(&items, 1 << 20);
	int result = a->scope.repo[0] ? view_cell_keys(site->db, a->scope.repo, a->scope.branch, cell_item, &list, err) : 0;
	if (items.len) {
		emit_raw(out, "<p class=lead>Which cell?</p><ul>");
		buf_append(out, items.data, items.len);
		emit_raw(out, "</ul>");
	} else {
		layout_empty(out, "", "No cell has been measured here yet.",
			"Follow one from any <a href=/comparisons>comparison</a>.");
	}
	buf_fini(&items);
	return result;
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

/* Points, but none of this figure: say what it needs. */
static void why_empty(struct buf *out, const struct history *h)
{
	const struct chart_line *line = &h->chart.line[0];
	for (int i = 0; i < line->n; i++)
		if (isfinite(line->point[i].y))
			return;
	if (line->n == 0)
		return;
	if (is_metric(h->metric, "anchor"))
		emit_raw(out, "<p>No push of this cell was measured against an anchor yet.</p>");
	else if (is_metric(h->metric, "peak"))
		emit_raw(out, "<p>The peak of this device is not known, or no clock was held yet.</p>");
	else if (is_metric(h->metric, "held"))
		emit_raw(out, "<p>The device shows no clock of a call, or no environment holds one yet.</p>");
}

static void list_marks(struct buf *out, const struct history *h)
{
	if (h->chart.n_marks == 0)
		return;
	emit_raw(out, "<ul class=life>");
	for (int i = 0; i < h->chart.n_marks; i++) {
		emit_raw(out, "<li>");
		layout_time(out, h->chart.mark[i].at);
		emit_raw(out, " ");
		emit_text(out, h->chart.mark[i].label);
		emit_raw(out, "</li>");
	}
	emit_raw(out, "</ul>\n");
}

/* What the chart is of, in words too. */
static void label(struct history *h, const struct asked *a)
{
	const struct chart_line *line = &h->chart.line[0];
	int at = snprintf(h->summary, sizeof h->summary, "%.200s: %d point%s, %d of them regressions", a->cell, line->n,
		line->n == 1 ? "" : "s", h->losses);
	if (line->n > 1 && isfinite(line->point[0].y) && isfinite(line->point[line->n - 1].y))
		snprintf(h->summary + at, sizeof h->summary - (size_t)at, "; first %.4g, last %.4g %s", line->point[0].y,
			line->point[line->n - 1].y, h->metric->unit);
	h->chart.unit = h->metric->unit;
	h->chart.summary = h->summary;
	h->chart.field = h->metric->field;
	h->chart.scale = h->scale;
	h->chart.by_date = strcmp(a->axis, "date") == 0;
}

static void draw(struct buf *out, const struct asked *a, struct history *h, const char *data)
{
	static const char *const rates[] = { "~Finished (UTC)", "Commit", "~>ms", ">TFLOP/s", ">Change", "Verdict" };
	static const char *const times[] = { "~Finished (UTC)", "Commit", ">ms", ">Change", "Verdict" };
	label(h, a);
	h->chart.data = data;
	chart_draw(out, &h->chart);
	why_empty(out, h);
	list_marks(out, h);
	if (h->chart.line[0].n) {
		emit_raw(out, "<h2>The same as a table</h2>");
		layout_table(out, h->flops ? 6 : 5, h->flops ? rates : times);
		buf_append(out, h->table.data, h->table.len);
		layout_table_end(out);
	}
}

static int collect(struct site *site, struct history *h, const struct asked *a, struct fw_err *err)
{
	return find_scale(site, h, a, err) || add_line(site, h, a, a->scope.branch, err) || add_marks(site, h, a, err) ? -1 : 0;
}

static int show(struct site *site, struct buf *out, const struct asked *a, const struct metric *metric, bool flops,
	struct buf *data, struct fw_err *err)
{
	struct history *h = calloc(1, sizeof *h);
	struct buf all;
	if (!h)
		return err_set(err, ERR_INTERNAL, "out of memory");
	h->metric = metric;
	h->flops = flops;
	buf_init(&h->table, 1 << 20);
	buf_init(&all, 16384);
	int result = collect(site, h, a, err);
	api_address(data, a, a->scope.branch);
	buf_append(&all, data->data, data->len);
	if (result == 0 && a->overlay[0]) {
		result = add_line(site, h, a, a->overlay, err);
		buf_putc(&all, ' ');
		api_address(&all, a, a->overlay);
	}
	if (result == 0)
		draw(out, a, h, all.data);
	buf_fini(&all);
	buf_fini(&h->table);
	free(h);
	return result;
}

/* Where FLOPs are not known a figure that needs them is no answer: then it is the time. */
static const struct metric *metric_of(const char *name, bool flops)
{
	const struct metric *found = &metrics[0];
	for (int i = 0; name && i < METRICS; i++)
		if (strcmp(metrics[i].name, name) == 0)
			found = &metrics[i];
	for (int i = 0; i < METRICS && !flops && needs_flops(found); i++)
		if (is_metric(&metrics[i], "ms"))
			return &metrics[i];
	return found;
}

struct known {
	bool times, flops;
};

static void look(void *arg, const struct view_point *row)
{
	struct known *known = arg;
	known->times = known->times || isfinite(row->median_ms);
	known->flops = known->flops || isfinite(row->tflops);
}

/* Whether the FLOPs of a cell are known, as far as its last points say; true where there are none. */
static int look_for_flops(struct site *site, const struct asked *a, bool *flops, struct fw_err *err)
{
	struct view_scope of = { .repo = a->scope.repo, .branch = a->scope.branch, .cell = a->cell, .device = a->device };
	struct known known = { false, false };
	int result = view_history(site->db, &of, LOOKED_AT, look, &known, err);
	*flops = known.flops || !known.times;
	return result < 0 ? -1 : 0;
}

void api_history_svg(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct asked a = { .cell = http_query(r, "cell"), .device = http_query(r, "device"), .axis = "push" };
	const char *axis, *metric;
	if (!a.cell || !*a.cell) {
		answer_problem(r, response, 400,
			"cell is needed, a key such as attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward");
		return;
	}
	if (answer_choice(r, response, "axis", "push date", &axis) != 0 ||
		answer_choice(r, response, "metric", "tflops held anchor peak change ms", &metric) != 0 ||
		scope_read(site, r, response, &a.scope) != 0)
		return;
	a.axis = axis ? axis : "push";
	struct history *h = calloc(1, sizeof *h);
	if (!h) {
		answer_problem(r, response, 503, "out of memory");
		return;
	}
	int looked = look_for_flops(site, &a, &h->flops, &err);
	h->metric = metric_of(metric, h->flops);
	buf_init(&h->table, 1 << 20);
	if (looked != 0 || collect(site, h, &a, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		label(h, &a);
		response->type = "image/svg+xml; charset=utf-8";
		chart_image(&response->body, &h->chart);
	}
	buf_fini(&h->table);
	free(h);
}

void page_history(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct buf *out = &response->body, data;
	struct asked a = { .cell = http_query(r, "cell"), .device = http_query(r, "device"), .axis = http_query(r, "axis") };
	const char *overlay = http_query(r, "overlay");
	bool flops = true;
	a.cell = a.cell ? a.cell : "";
	a.axis = a.axis && strcmp(a.axis, "date") == 0 ? "date" : "push";
	if (overlay && *overlay)
		branch_key(overlay, a.overlay);
	if (scope_offer(site, r, response, &a.scope) != 0)
		return;
	if (!scope_branch(r, a.scope.branch)) /* every branch, unless one is asked for */
		a.scope.branch[0] = '\0';
	buf_init(&data, 16384);
	layout_begin(response, "History", "history");
	int result = *a.cell ? look_for_flops(site, &a, &flops, &err) : 0;
	const struct metric *metric = metric_of(http_query(r, "metric"), flops);
	if (result == 0)
		result = form(site, out, &a, metric, flops, &err);
	if (result == 0)
		result = *a.cell ? show(site, out, &a, metric, flops, &data, &err) : offer_cells(site, out, &a, &err);
	if (result != 0)
		answer_error(r, response, &err);
	else
		layout_end_data(response, data.len ? data.data : NULL);
	buf_fini(&data);
}
