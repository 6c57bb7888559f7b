/* Alerts: regressions, known culprits, every change of state, and the next steps. */

#include "web/page/internal.h"

#include <math.h>

/* ---- alert_cells ---- */

enum {
	SPARKLINES_MAX = 24, /* cells with a sparkline; more are slow to draw */
	ROWS_MAX = 200       /* a page with all cells of a large suite would have megabytes */
};

struct line {
	const json_t *cell;
	struct headline headline;
	int64_t comparison;
	double change_pct;
};

static const char *worst_of(const json_t *cells)
{
	const json_t *cell, *worst = json_array_get(cells, 0);
	size_t i;
	json_array_foreach(cells, i, cell) if (comparison_number(cell, "change_pct") < comparison_number(worst, "change_pct"))
		worst = cell;
	return comparison_text(worst, "cell");
}

/* Read the points up to the time when the alert was opened. */
static int begin_sparkline(struct db *db, const struct view_alert *row, struct sparkline *spark, struct fw_err *err)
{
	int64_t last;
	return view_history_last(db, row->opened_at, &last, err) < 0
		       ? -1
		       : sparkline_begin(db, row->repo, row->branch, last, spark, err);
}

/* ---- table --------------------------------------------------------------------------------------------------------- */

static int by_change(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	return (x->change_pct > y->change_pct) - (x->change_pct < y->change_pct);
}

/* Units: percent of the width. */
static double x_of(const struct axis *axis, double pct)
{
	return 100 * axis_at(axis, pct);
}

static void draw_strip(struct buf *out, const struct axis *axis, const struct headline *t)
{
	emit_raw(out, "<svg class=\"strip scaled\" aria-hidden=true>");
	if (isfinite(t->threshold_pct))
		emit_rawf(out, "<rect x=%.1f%% width=%.1f%% height=100%% />", x_of(axis, -t->threshold_pct),
			x_of(axis, t->threshold_pct) - x_of(axis, -t->threshold_pct));
	emit_rawf(out, "<line class=z x1=%.1f%% x2=%.1f%% y1=0 y2=100%% />", x_of(axis, 0), x_of(axis, 0));
	if (isfinite(t->low_pct) && isfinite(t->high_pct))
		emit_rawf(out, "<line x1=%.1f%% x2=%.1f%% y1=50%% y2=50%% />", x_of(axis, t->low_pct), x_of(axis, t->high_pct));
	if (isfinite(t->change_pct))
		emit_rawf(out, "<circle cx=%.1f%% cy=50%% r=4 />", x_of(axis, t->change_pct));
	emit_raw(out, "</svg>");
}

/* Write "12.58 \u2192 13.21 MB" for a cell with a higher cost. Returns false for a slower one. */
static bool draw_cost(struct buf *out, const struct view_alert *row, const json_t *cell)
{
	const struct trend_metric *metric = row->kind == ALERTKIND_COST ? trend_metric(row->changed, true) : NULL;
	if (!metric || !trend_stored(metric))
		return false;
	char values[COST_VALUES_SIZE];
	cost_values(row->changed, comparison_number(cell, "base"), " \u2192 ", comparison_number(cell, "target"), values,
		sizeof values);
	emit_format(out, "%s", values);
	return true;
}

static void draw_marks(struct buf *out, const struct view_alert *row, const struct line *l)
{
	if (l->comparison &&
		l->comparison != row->comparison) /* the cell may be of another suite than the comparison that opened the alert */
		emit_format(out, " <small>%lld{comparison}</small>", (long long)l->comparison);
	if (json_is_true(json_object_get(l->cell, "sustained")))
		emit_raw(out, " <small>sustained</small>");
	if (json_is_true(json_object_get(l->cell, "borderline")))
		emit_raw(out, " <small>borderline</small>");
	if (*comparison_text(l->cell, "slow_calls"))
		emit_format(out, " <small>%s</small>", comparison_text(l->cell, "slow_calls"));
}

static int table_row(struct db *db, struct buf *out, const struct view_alert *row, const struct line *l, const struct axis *axis,
	const struct sparkline *spark, struct fw_err *err)
{
	int result = 0;
	emit_raw(out, "<tr><th scope=row class=wrap>");
	emit_format(out, "<a href=\"/history?cell=%s&amp;repo=%s&amp;branch=%s%s{?&amp;metric=*}\">%s{case %s %lld}%s{? *}</a>",
		comparison_text(l->cell, "cell"), row->repo, row->branch, row->kind == ALERTKIND_COST ? row->changed : "",
		comparison_text(l->cell, "cell"), l->headline.title, (long long)l->headline.size,
		*l->headline.title ? l->headline.direction : "");
	draw_marks(out, row, l);
	emit_raw(out, "</th><td class=w>");
	if (spark)
		result = sparkline_draw(out, db, spark, comparison_text(l->cell, "cell"), err);
	emit_raw(out, "</td><td class=w>");
	if (row->kind != ALERTKIND_COST)
		draw_strip(out, axis, &l->headline);
	emit_raw(out, "</td><td class=n>");
	if (!draw_cost(out, row, l->cell))
		headline_change(out, &l->headline, VERDICT_REGRESSION, l->change_pct);
	emit_raw(out, "</td></tr>\n");
	return result;
}

static int draw_table(struct db *db, struct buf *out, const struct view_alert *row, struct line *line, int n, struct fw_err *err)
{
	struct axis axis = axis_empty();
	struct sparkline spark;
	double threshold_pct = NAN;
	int result = begin_sparkline(db, row, &spark, err);
	for (int i = 0; i < n && result == 0; i++) {
		line[i].comparison = json_integer_value(json_object_get(line[i].cell, "comparison"));
		line[i].change_pct = comparison_number(line[i].cell, "change_pct");
		result = reported_read(db, line[i].comparison ? line[i].comparison : row->comparison,
			comparison_text(line[i].cell, "cell"), &line[i].headline, err);
		axis_cover(&axis, line[i].headline.low_pct);
		axis_cover(&axis, line[i].headline.high_pct);
		axis_cover(&axis, line[i].headline.change_pct);
		threshold_pct = fmax(threshold_pct, line[i].headline.threshold_pct);
	}
	axis_finish(&axis, threshold_pct);
	qsort(line, (size_t)n, sizeof *line, by_change);
	layout_table(out, row->kind == ALERTKIND_COST ? "Cell|||>Change" : "Cell|~Last pushes|~Interval|>Change");
	for (int i = 0; i < n && i < ROWS_MAX && result == 0; i++)
		result = table_row(
			db, out, row, &line[i], &axis, i < SPARKLINES_MAX && row->kind != ALERTKIND_COST ? &spark : NULL, err);
	layout_table_end(out);
	if (n > ROWS_MAX)
		emit_rawf(out, "<p class=dim>The worst %d; %d more are in <a href=\"/api/v1/alerts/%lld\">JSON</a>.</p>\n",
			ROWS_MAX, n - ROWS_MAX, (long long)row->id);
	return result;
}

/* Draw every cell in a table, the worst first, with its interval on an axis that all cells share. Err: the database's. */
static int draw_cells_table(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	json_t *cell, *cells = json_loads(row->cells_json, 0, NULL);
	int n = 0, result = 0;
	size_t i;
	struct line *line = json_array_size(cells) ? mem_alloc_zero(json_array_size(cells), sizeof *line) : NULL;
	if (line) {
		json_array_foreach(cells, i, cell) line[n++].cell = cell;
		emit_rawf(out, "<h3>%d cell%s</h3>", n, n == 1 ? "" : "s");
		result = draw_table(db, out, row, line, n, err);
	}
	free(line);
	json_decref(cells);
	return result;
}

/* ---- worst cell ---------------------------------------------------------------------------------------------------- */

/* Draw the speed of the worst cell on the upstream branch and on that of the alert. Err: the database's. */
static int draw_cells_chart(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	bool is_cost = row->kind == ALERTKIND_COST; /* its cells are sorted by growth */
	struct cell_chart of = { .repo = row->repo,
		.branch = row->branch,
		.cell = worst_of(cells),
		.comparison = row->comparison,
		.cost = is_cost ? row->changed : NULL,
		.base = is_cost ? comparison_number(json_array_get(cells, 0), "base") : NAN,
		.limit_pct = is_cost ? comparison_number(json_array_get(cells, 0), "limit_pct") : NAN };
	int result = *of.repo && *of.cell ? cell_chart_draw(db, out, &of, err) : 0;
	json_decref(cells);
	return result;
}

/* Draw the same as a sparkline, for a list. Err: the database's. */
static int draw_cells_past(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	struct sparkline spark;
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	const char *cell = worst_of(cells);
	bool has_sparkline = *row->repo && *cell && row->kind != ALERTKIND_COST; /* sparklines show speed */
	int result = has_sparkline ? begin_sparkline(db, row, &spark, err) : 0;
	if (result == 0 && has_sparkline) {
		emit_raw(out, "<p>");
		result = sparkline_draw(out, db, &spark, cell, err);
		emit_raw(out, " <small>its worst cell, up to this push</small></p>");
	}
	json_decref(cells);
	return result;
}

/* ---- alert ---- */

enum { ROWS = 50, CELLS_SHOWN = 8, CELLS_LISTED = 40 };

struct alert_page {
	struct buf *out;
	struct site *site;
	struct http_response *response; /* page of one alert; NULL: list */
	int n;
	int64_t last;
};

static void cell_item(struct buf *out, const struct view_alert *row, const json_t *cell)
{
	emit_raw(out, "<li>");
	if (!draw_cost(out, row, cell))
		layout_decided(out, comparison_number(cell, "change_pct"), true);
	emit_raw(out, " ");
	layout_cell_link(out, row->repo, row->branch, comparison_text(cell, "cell"));
	json_int_t comparison = json_integer_value(json_object_get(cell, "comparison"));
	if (comparison &&
		comparison != row->comparison) /* the cell may be of another suite than the comparison that opened the alert */
		emit_format(out, " <small>%lld{comparison}</small>", (long long)comparison);
	emit_raw(out, json_is_true(json_object_get(cell, "sustained")) ? " <small>sustained</small>" : "");
	if (*comparison_text(cell, "slow_calls"))
		emit_format(out, " <small>%s</small>", comparison_text(cell, "slow_calls"));
	emit_raw(out, json_is_true(json_object_get(cell, "borderline")) ? " <small>borderline</small></li>" : "</li>");
}

struct listed {
	double change_pct;
	const json_t *cell;
};

static int by_listed_change(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	return (x->change_pct > y->change_pct) - (x->change_pct < y->change_pct);
}

/* List the cells, the largest slowdown first. */
static void draw_alert_cells(struct buf *out, const struct view_alert *row)
{
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	size_t n = json_array_size(cells);
	if (n) {
		struct listed *list = mem_alloc(n * sizeof *list);
		for (size_t i = 0; i < n; i++) {
			const json_t *cell = json_array_get(cells, i);
			list[i] = (struct listed){ comparison_number(cell, "change_pct"), cell };
		}
		if (row->kind != ALERTKIND_COST) /* cells of a cost alert are stored with the largest growth first */
			qsort(list, n, sizeof *list, by_listed_change);
		emit_rawf(out, "<details id=cells-%lld%s><summary>%zu cell%s</summary><ul>", (long long)row->id,
			n <= CELLS_SHOWN ? " open" : "", n, n == 1 ? "" : "s");
		for (size_t i = 0; i < n && i < CELLS_LISTED; i++)
			cell_item(out, row, list[i].cell);
		free(list);
		if (n > CELLS_LISTED)
			emit_rawf(out, "<li><a href=\"/alerts/%lld\">%zu more</a></li>", (long long)row->id, n - CELLS_LISTED);
		emit_raw(out, "</ul></details>");
	}
	json_decref(cells);
}

/* Write the common properties of the regressed cells, one line per group. */
static void draw_alert_groups(struct buf *out, const struct view_alert *row)
{
	size_t i;
	json_t *group, *groups = json_loads(row->groups_json, 0, NULL);
	json_array_foreach(groups, i, group)
	{
		emit_format(out, "%-s%f{decided %d} at worst in %s %s", i == 0 ? "<ul><li>" : "<li>",
			comparison_number(group, "worst_pct"), true, comparison_text(group, "family"),
			comparison_text(group, "direction"));
		if (json_is_true(json_object_get(group, "sustained")))
			emit_raw(out, ", once clocks stabilise under its power draw");
		if (*comparison_text(group, "slow_calls"))
			emit_format(out, ", on average: %s", comparison_text(group, "slow_calls"));
		if (*comparison_text(group, "phase"))
			emit_format(out, ", phase <b>%s</b>", comparison_text(group, "phase"));
		if (*comparison_text(group, "kernel"))
			emit_format(out, ", kernel <code>%s</code>", comparison_text(group, "kernel"));
		const json_t *cells = json_object_get(group, "cells");
		int n = json_is_array(cells) ? (int)json_array_size(cells) : (int)json_integer_value(cells);
		emit_rawf(out, " <span class=dim>(%d cell%s)</span></li>", n, n == 1 ? "" : "s");
	}
	if (json_array_size(groups))
		emit_raw(out, "</ul>");
	json_decref(groups);
}

static void alert_event_line(void *arg, const struct view_alert_event *row)
{
	struct buf *out = arg;
	emit_format(out, "<li>%lld{time} %s{verdict} by %s%s{?: *}</li>", (long long)row->at, alertstate_name(row->state),
		row->who, row->reason);
}

/* Draw the buttons that change the alert's state through the API. */
static void draw_answers(struct buf *out, int64_t id, enum alertkind kind, bool alone)
{
	static const struct {
		const char *verb, *label;
	} known[] = { { "accept", "Accept: this slowdown is wanted" }, { "resolve", "Fixed" },
		{ "invalidate", "Not real (measurement)" }, { "acknowledge", "I\u2019m on it" } };
	emit_raw(out, alone ? "<form id=answer method=post class=filter>" : "<form method=post class=filter>");
	emit_rawf(out, "<label class=grow>Reason <input name=reason maxlength=2000 id=why-%lld></label>", (long long)id);
	if (alone) /* the page that the API redirects to */
		emit_rawf(out, "<input type=hidden name=back value=\"/alerts/%lld\">", (long long)id);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		emit_rawf(out, "<button formaction=\"/api/v1/alerts/%lld/%s\">%s</button>", (long long)id, known[i].verb,
			i == 0 && kind == ALERTKIND_COST ? "Accept: this growth is wanted" : known[i].label);
	emit_raw(out, "</form>");
}

/* "Why: the plan takes 2.1 s instead of 90 ms.", of the cell whose cost grew most, else from the alert's profile. Err: the database's. */
static int draw_why(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	if (row->kind != ALERTKIND_COST)
		return explanation_draw_line_of(db, out, row->id, row->comparison, err);
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	emit_format(out, "%s{?<p class=why><b>Why:</b> *.</p>\n}", comparison_text(json_array_get(cells, 0), "why"));
	json_decref(cells);
	return 0;
}

static void draw_step(struct buf *out, const struct view_alert *row)
{
	emit_format(out, "<p><b>What to do:</b> %-s, or give an answer, with its reason:</p>", alarm_step(row->kind));
}

/* `finding`: text below the heading, with a link to the form that answers an open alert; "" on the page that has both. */
static void draw_alert_head(struct buf *out, const struct view_alert *row, const char *finding)
{
	emit_format(out, "<section class=card id=a%lld>", (long long)row->id);
	if (*finding && alertstate_is_live(row->state))
		emit_rawf(out, "<a class=\"button aside\" href=\"/alerts/%lld#answer\">Answer A%lld</a>", (long long)row->id,
			(long long)row->id);
	emit_format(out, "<h2>%s{verdict} <a href=\"/alerts/%lld\">A%lld</a> <small>%s{name}</small> ",
		alertstate_name(row->state), (long long)row->id, (long long)row->id, alertkind_name(row->kind));
	if (isfinite(row->worst_pct))
		layout_decided(out, row->worst_pct, true);
	emit_format(out, "</h2>%s{?<p class=lead>*</p>}<p>", finding);
	if (*row->repo)
		emit_format(out,
			"<a href=\"/repos/%s\">%s</a> <a href=\"/branches?repo=%s&amp;branch=%s\">%s{branch}</a> %s{commit} %s",
			row->repo, row->repo, row->repo, row->branch, row->branch, row->target, row->subject);
	else
		emit_format(out, "device <a href=/devices>%s</a>", row->device);
	if (row->comparison)
		emit_format(out, " %lld{comparison}", (long long)row->comparison);
	emit_format(out, "%lld{? <a href=\"/bisects/*\">bisect *</a>}</p>", (long long)row->bisect);
}

static bool draw_events(struct site *site, struct buf *out, int64_t id, struct fw_err *err)
{
	emit_raw(out, "<ol class=life>");
	int result = view_alert_events(site->db, id, alert_event_line, out, err);
	emit_raw(out, "</ol>");
	return result == 0;
}

static void draw_alert_section(void *arg, const struct view_alert *row)
{
	struct alert_page *page = arg;
	struct buf *out = page->out;
	struct db *db = page->site->db;
	struct fw_err err = { 0 };
	struct headline headline;
	struct buf finding;
	page->n++;
	page->last = row->id;
	bool is_drawn = reported_read(db, row->comparison, NULL, &headline, &err) == 0;
	buf_init(&finding, FINDING_BYTES);
	alarm_finding(&finding, row, &headline);
	draw_alert_head(out, row, finding.len ? finding.data : "");
	out->failed |= finding.failed;
	buf_fini(&finding);
	culprits_show(out, row->culprits_json);
	is_drawn = is_drawn && draw_why(db, out, row, &err) == 0;
	draw_alert_groups(out, row);
	is_drawn = is_drawn && draw_cells_past(db, out, row, &err) == 0;
	draw_alert_cells(out, row);
	is_drawn = is_drawn && draw_events(page->site, out, row->id, &err);
	if (alertstate_is_live(row->state)) {
		draw_step(out, row);
		draw_answers(out, row->id, row->kind, false);
	}
	out->failed |= !is_drawn;
	emit_raw(out, "</section>\n");
}

/* Draw the page of one alert: finding, cause, cells, chart, folded profile. */
static void draw_alert_whole(void *arg, const struct view_alert *row)
{
	struct alert_page *page = arg;
	struct buf *out = page->out, title;
	struct db *db = page->site->db;
	struct fw_err err = { 0 };
	struct headline headline;
	bool is_drawn = reported_read(db, row->comparison, NULL, &headline, &err) == 0;
	buf_init(&title, FINDING_BYTES);
	alarm_finding(&title, row, &headline);
	layout_begin(page->response, title.data, "alerts", "alert. profile.");
	buf_fini(&title);
	layout_live(out, "alert", "The alert changed");
	draw_alert_head(out, row, "");
	if (alertstate_is_live(row->state)) {
		draw_step(out, row);
		draw_answers(out, row->id, row->kind, true);
	}
	is_drawn = is_drawn && draw_events(page->site, out, row->id, &err);
	culprits_show(out, row->culprits_json);
	is_drawn = is_drawn && draw_why(db, out, row, &err) == 0;
	draw_alert_groups(out, row);
	is_drawn = is_drawn && draw_cells_table(db, out, row, &err) == 0 && draw_cells_chart(db, out, row, &err) == 0 &&
		   explanation_draw_alert(db, out, row->id, row->comparison, &err) == 0;
	out->failed |= !is_drawn;
	emit_raw(out, "</section>\n</div>");
}

static void draw_state_tabs(struct buf *out, const char *state)
{
	/* the labels of the buttons that set the states */
	static const char *const label[ALERTSTATE_N] = {
		[ALERTSTATE_OPEN] = "open",
		[ALERTSTATE_ACKNOWLEDGED] = "acknowledged (on it)",
		[ALERTSTATE_ACCEPTED] = "accepted",
		[ALERTSTATE_RESOLVED] = "resolved (fixed)",
		[ALERTSTATE_INVALID] = "invalid (not real)",
	};
	emit_rawf(out, "<nav class=tabs aria-label=\"Alerts by state\"><a href=/alerts%s>all</a>",
		state ? "" : " aria-current=true");
	for (enum alertstate one = 0; one < ALERTSTATE_N; one++)
		emit_rawf(out, "<a href=\"/alerts?state=%s\"%s>%s</a>", alertstate_name(one),
			state && strcmp(state, alertstate_name(one)) == 0 ? " aria-current=true" : "", label[one]);
	emit_raw(out, "<a href=/bisects>bisects</a></nav>\n");
}

struct state_count {
	const char *state;
	int64_t n;
};

static void take_count(void *arg, const char *what, const char *state, int64_t n)
{
	struct state_count *of = arg;
	if (strcmp(what, "alerts") == 0 && strcmp(state, of->state) == 0)
		of->n += n;
}

/* Write the worst open alert, or the number of alerts in another state: "Alerts: 3 resolved". Err: the database's. */
static int write_title(struct site *site, struct buf *out, const char *state, struct fw_err *err)
{
	struct alarms alarms = { .site = site, .is_title = true };
	struct state_count of = { .state = state };
	if (state && strcmp(state, alertstate_name(ALERTSTATE_OPEN)) != 0) {
		int result = view_counts(site->db, take_count, &of, err);
		buf_printf(out, "Alerts: %lld %s", (long long)of.n, state);
		return result;
	}
	int result = alarms_read(&alarms, err);
	if (alarms.n)
		alarms_title(out, &alarms, 0);
	else
		buf_puts(out, "No open alert");
	alarms_fini(&alarms);
	return result;
}

int page_alerts(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct alert_page page = { .out = &response->body, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", answer_alert_states(), &state, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	struct buf title;
	buf_init(&title, FINDING_BYTES);
	int result = write_title(site, &title, state, err);
	layout_begin(response, title.data, "alerts", "alert. profile.");
	page.out->failed |= title.failed;
	buf_fini(&title);
	draw_state_tabs(page.out, state);
	layout_live(page.out, "alerts", "The alerts changed");
	if (result != 0 || view_alerts(site->db, state, before, ROWS, draw_alert_section, &page, err) != 0)
		return -1;
	if (page.n == 0)
		layout_empty(page.out, "good", state ? "No alert in this state." : "No alert.",
			"The daemon opens one for every commit with a cell that is slower by more than its threshold.");
	layout_older(page.out, r, page.n, ROWS, page.last);
	emit_raw(page.out, "</div>");
	return layout_end(response, "/api/v1/alerts", 0);
}

int page_alert(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct alert_page page = { .out = &response->body, .site = site, .response = response };
	char data[64];
	int64_t id = answer_path_id(r, "alert", err);
	if (id < 0 || view_alert(page.site->db, id, draw_alert_whole, &page, err) != 0)
		return -1;
	snprintf(data, sizeof data, "/api/v1/alerts/%lld", (long long)id);
	return layout_end(response, data, 0);
}
