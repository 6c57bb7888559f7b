/* History of one cell: a chart, other branches over it, and the same points as a table; without a cell, the cells to choose from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/store_history.h"
#include "db/store_show.h"
#include "web/answer.h"
#include "web/chart.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/picker.h"
#include "web/scope.h"
#include "web/site.h"

static const struct metric {
	const char *name, *label, *unit, *field;
} metrics[] = {
	{ "tflops", "Throughput", "TFLOP/s", "tflops" },
	{ "ms", "Time", "ms", "median_ms" },
	{ "change", "Change against base", "% against the base", "change_pct" },
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

struct history {
	struct chart_point point[CHART_LINES_MAX][CHART_POINTS_MAX];
	struct chart chart;
	const struct metric *metric;
	int losses;
	struct buf table;
};

/* ---- points ----------------------------------------------------------------------------------------------------------- */

static double value_of(const struct metric *metric, const struct view_point *row)
{
	return strcmp(metric->name, "ms") == 0       ? row->median_ms
	       : strcmp(metric->name, "change") == 0 ? row->change_pct
						     : row->tflops;
}

/* The interval is one of the change, so that of a throughput or a time follows it. */
static void set_interval(struct chart_point *p, const struct metric *metric, const struct view_point *row)
{
	double low = 1 + row->ci_low_pct / 100, high = 1 + row->ci_high_pct / 100, change = 1 + row->change_pct / 100;
	if (strcmp(metric->name, "change") == 0) {
		p->low = row->ci_low_pct;
		p->high = row->ci_high_pct;
	} else if (strcmp(metric->name, "ms") == 0) {
		p->low = row->median_ms * change / high;
		p->high = row->median_ms * change / low;
	} else {
		p->low = row->tflops * low / change;
		p->high = row->tflops * high / change;
	}
}

static void table_row(struct buf *out, const struct view_point *row)
{
	emit_raw(out, "<tr><td>");
	layout_time(out, row->finished_at);
	emit_raw(out, "</td><td>");
	layout_commit(out, row->commit);
	emit_raw(out, "</td><td class=\"n w\">");
	layout_ms(out, row->median_ms);
	emit_raw(out, "</td><td class=n>");
	layout_tflops(out, row->tflops);
	emit_raw(out, "</td><td class=n>");
	layout_change(out, row->change_pct);
	emit_rawf(out, "</td><td><a href=\"/comparisons/%lld\">", (long long)row->comparison);
	layout_verdict(out, row->verdict);
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
	p->y = value_of(h->metric, row);
	set_interval(p, h->metric, row);
	p->at = row->finished_at;
	p->comparison = row->comparison;
	p->is_loss = strcmp(row->verdict, "regression") == 0;
	clock_format(row->finished_at, at);
	if (isfinite(row->change_pct))
		snprintf(change, sizeof change, "%+.2f %%", row->change_pct);
	snprintf(p->label, sizeof p->label, "%.10s: %.4g TFLOP/s, %s, %.16s, %.16s", row->commit, row->tflops, change,
		row->verdict, at);
	if (h->chart.n_lines == 1) {
		h->losses += p->is_loss;
		table_row(&h->table, row);
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
	struct view_scope of = { a->scope.repo, branch, a->cell, a->device };
	int result = view_history(site->db, &of, CHART_POINTS_MAX, take_point, h, err);
	reverse(line);
	return result;
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

static int form(struct site *site, struct buf *out, const struct asked *a, const struct metric *metric, struct fw_err *err)
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

static void draw(struct buf *out, const struct asked *a, struct history *h, const char *data)
{
	static const char *const columns[] = { "Finished (UTC)", "Commit", "~>ms", ">TFLOP/s", ">Change", "Verdict" };
	char summary[400];
	const struct chart_line *line = &h->chart.line[0];
	int at = snprintf(summary, sizeof summary, "%.200s: %d point%s, %d of them regressions", a->cell, line->n,
		line->n == 1 ? "" : "s", h->losses);
	if (line->n > 1 && isfinite(line->point[0].y) && isfinite(line->point[line->n - 1].y))
		snprintf(summary + at, sizeof summary - (size_t)at, "; first %.4g, last %.4g %s", line->point[0].y,
			line->point[line->n - 1].y, h->metric->unit);
	h->chart.unit = h->metric->unit;
	h->chart.summary = summary;
	h->chart.data = data;
	h->chart.field = h->metric->field;
	h->chart.by_date = strcmp(a->axis, "date") == 0;
	chart_draw(out, &h->chart);
	if (line->n) {
		emit_raw(out, "<h2>The same as a table</h2>");
		layout_table(out, 6, columns);
		buf_append(out, h->table.data, h->table.len);
		layout_table_end(out);
	}
}

static int show(struct site *site, struct buf *out, const struct asked *a, const struct metric *metric, struct buf *data,
	struct fw_err *err)
{
	struct history *h = calloc(1, sizeof *h);
	struct buf all;
	if (!h)
		return err_set(err, ERR_INTERNAL, "out of memory");
	h->metric = metric;
	buf_init(&h->table, 1 << 20);
	buf_init(&all, 16384);
	int result = add_line(site, h, a, a->scope.branch, err);
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

static const struct metric *metric_of(const char *name)
{
	for (int i = 0; name && i < METRICS; i++)
		if (strcmp(metrics[i].name, name) == 0)
			return &metrics[i];
	return &metrics[0];
}

void page_history(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct buf *out = &response->body, data;
	struct asked a = { .cell = http_query(r, "cell"), .device = http_query(r, "device"), .axis = http_query(r, "axis") };
	const char *overlay = http_query(r, "overlay");
	const struct metric *metric = metric_of(http_query(r, "metric"));
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
	int result = form(site, out, &a, metric, &err);
	if (result == 0)
		result = *a.cell ? show(site, out, &a, metric, &data, &err) : offer_cells(site, out, &a, &err);
	if (result != 0)
		answer_error(r, response, &err);
	else
		layout_end_data(response, data.len ? data.data : NULL);
	buf_fini(&data);
}
