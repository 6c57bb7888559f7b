/* History of one cell: a chart and the same points as a table; without a cell, the form that asks for one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/store_history.h"
#include "web/answer.h"
#include "web/chart.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/scope.h"
#include "web/site.h"

struct history {
	struct chart_point point[CHART_POINTS_MAX];
	int n, losses;
	struct buf table;
};

static void point_line(void *arg, const struct view_point *row)
{
	struct history *h = arg;
	char at[32];
	if (h->n == CHART_POINTS_MAX)
		return;
	struct chart_point *p = &h->point[h->n++];
	p->y = row->tflops;
	p->is_loss = strcmp(row->verdict, "regression") == 0;
	h->losses += p->is_loss;
	clock_format(row->finished_at, at);
	char change[32] = "no change known";
	if (isfinite(row->change_pct))
		snprintf(change, sizeof change, "%+.2f %%", row->change_pct);
	snprintf(p->label, sizeof p->label, "%.10s: %.4g TFLOP/s, %s, %.16s, %.16s", row->commit, row->tflops, change,
		row->verdict, at);
	emit_raw(&h->table, "<tr><td>");
	layout_time(&h->table, row->finished_at);
	emit_raw(&h->table, "</td><td>");
	layout_sha(&h->table, row->commit);
	emit_raw(&h->table, "</td><td class=n>");
	layout_ms(&h->table, row->median_ms);
	emit_raw(&h->table, "</td><td class=n>");
	layout_tflops(&h->table, row->tflops);
	emit_raw(&h->table, "</td><td class=n>");
	layout_change(&h->table, row->change_pct);
	emit_rawf(&h->table, "</td><td><a href=\"/comparisons/%lld\">", (long long)row->comparison);
	layout_verdict(&h->table, row->verdict);
	emit_raw(&h->table, "</a></td></tr>\n");
}

/* Points come newest first; a chart reads the other way. */
static void reverse(struct chart_point *point, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct chart_point t = point[i];
		point[i] = point[n - 1 - i];
		point[n - 1 - i] = t;
	}
}

static void field(struct buf *out, const char *name, const char *label, const char *value)
{
	emit_rawf(out, "<label>%s <input name=%s value=\"", label, name);
	emit_attribute(out, value ? value : "");
	emit_raw(out, "\"></label> ");
}

static void draw(struct buf *out, const char *cell, struct history *h)
{
	static const char *const columns[] = { "Finished (UTC)", "Commit", ">ms", ">TFLOP/s", ">Change against base", "Verdict" };
	char summary[400];
	reverse(h->point, h->n);
	snprintf(summary, sizeof summary, "%.160s: %d points, %d of them regressions", cell, h->n, h->losses);
	chart_line(out, h->point, h->n, "TFLOP/s", summary);
	layout_table(out, 6, columns);
	buf_append(out, h->table.data, h->table.len);
	layout_table_end(out);
}

void page_history(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct scope scope;
	struct buf *out = &response->body;
	const char *cell = http_query(r, "cell"), *device = http_query(r, "device");
	bool asked = cell && *cell;
	if (asked && scope_read(site, r, response, &scope) != 0)
		return;
	layout_begin(response, "History", "history");
	emit_raw(out, "<form class=filter action=/history method=get>");
	field(out, "cell", "Cell", cell);
	field(out, "repo", "Repository", asked ? scope.repo : http_query(r, "repo"));
	field(out, "branch", "Branch", http_query(r, "branch"));
	field(out, "device", "Device", device);
	emit_raw(out, "<button>Show</button></form>\n");
	if (!asked) {
		emit_raw(out,
			"<p class=lead>Follow a cell from any <a href=/comparisons>comparison</a>, or write its key above.</p>");
		layout_end(response);
		return;
	}
	struct history *h = calloc(1, sizeof *h);
	if (!h) {
		answer_problem(r, response, 500, "out of memory");
		return;
	}
	buf_init(&h->table, 1 << 20);
	struct view_scope of = { scope.repo, scope.branch, cell, device };
	if (view_history(site->db, &of, CHART_POINTS_MAX, point_line, h, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		draw(out, cell, h);
		layout_end(response);
	}
	buf_fini(&h->table);
	free(h);
}
