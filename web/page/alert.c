/* Alerts: regressions, known culprits, every change of state, and the next steps. */

#include "web/page/internal.h"

/* ---- alert_cells ---- */

enum {
	PASTS_MAX = 24, /* cells that are shown with their past; more would be slow to draw and too many to read */
	ROWS_MAX = 200  /* a page with all cells of a large suite would have megabytes */
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

/* Points up to the time when the alert was opened. */
static int begin_past(struct db *db, const struct view_alert *row, struct past *past, struct fw_err *err)
{
	int64_t last;
	return view_history_last(db, row->opened_at, &last, err) < 0 ? -1
								     : past_begin(db, row->repo, row->branch, last, past, err);
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

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

static void strip(struct buf *out, const struct axis *axis, const struct headline *t)
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

static void marks(struct buf *out, const struct view_alert *row, const struct line *l)
{
	if (l->comparison && l->comparison != row->comparison) /* of another suite than the comparison that opened the alert */
		emit_format(out, " <small>%lld{comparison}</small>", (long long)l->comparison);
	if (json_is_true(json_object_get(l->cell, "sustained")))
		emit_raw(out, " <small>sustained</small>");
	if (json_is_true(json_object_get(l->cell, "borderline")))
		emit_raw(out, " <small>borderline</small>");
	if (*comparison_text(l->cell, "slow_calls"))
		emit_format(out, " <small>%s</small>", comparison_text(l->cell, "slow_calls"));
}

static int table_row(struct db *db, struct buf *out, const struct view_alert *row, const struct line *l, const struct axis *axis,
	const struct past *past, struct fw_err *err)
{
	int result = 0;
	emit_raw(out, "<tr><th scope=row class=wrap>");
	emit_format(out, "<a href=\"/history?cell=%s&amp;repo=%s&amp;branch=%s\">%s{case %s %lld}%s{? *}</a>",
		comparison_text(l->cell, "cell"), row->repo, row->branch, comparison_text(l->cell, "cell"), l->headline.title,
		(long long)l->headline.size, *l->headline.title ? l->headline.direction : "");
	marks(out, row, l);
	emit_raw(out, "</th><td class=w>");
	if (past)
		result = past_draw(out, db, past, comparison_text(l->cell, "cell"), err);
	emit_raw(out, "</td><td class=w>");
	strip(out, axis, &l->headline);
	emit_raw(out, "</td><td class=n>");
	headline_change(out, &l->headline, VERDICT_REGRESSION, l->change_pct);
	emit_raw(out, "</td></tr>\n");
	return result;
}

static int draw_table(struct db *db, struct buf *out, const struct view_alert *row, struct line *line, int n, struct fw_err *err)
{
	struct axis axis = axis_none();
	struct past past;
	double threshold_pct = NAN;
	int result = begin_past(db, row, &past, err);
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
	axis_settle(&axis, threshold_pct);
	qsort(line, (size_t)n, sizeof *line, by_change);
	layout_table(out, "Cell|~Last pushes|~Interval|>Change");
	for (int i = 0; i < n && i < ROWS_MAX && result == 0; i++)
		result = table_row(db, out, row, &line[i], &axis, i < PASTS_MAX ? &past : NULL, err);
	layout_table_end(out);
	if (n > ROWS_MAX)
		emit_rawf(out, "<p class=dim>The worst %d; %d more are in <a href=\"/api/v1/alerts/%lld\">JSON</a>.</p>\n",
			ROWS_MAX, n - ROWS_MAX, (long long)row->id);
	return result;
}

/* Draw every cell in a table, the worst first, with its interval on an axis that all cells share. Err: the database's. */
static int alert_cells_table(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
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

/* ---- the worst -------------------------------------------------------------------------------------------------------- */

/* The threshold that the cell crossed, as a boundary around its base. */
static int draw_threshold(struct db *db, struct trend *t, const struct view_alert *row, const char *cell, struct fw_err *err)
{
	const struct chart_line *line = &t->chart.line[t->chart.n_lines - 1];
	struct headline headline;
	if (reported_read(db, row->comparison, cell, &headline, err) != 0)
		return -1;
	for (int i = 0; i < line->n; i++)
		if (line->point[i].comparison == row->comparison)
			trend_limit(t, line->point[i].base_y, headline.threshold_pct);
	return 0;
}

static int draw_chart(struct db *db, struct buf *out, const struct view_alert *row, const char *cell, const struct past *past,
	struct fw_err *err)
{
	struct view_scope own = { .repo = row->repo, .branch = row->branch, .cell = cell }, upstream = own;
	char name[160];
	struct unit unit;
	bool flops, is_upstream = strcmp(row->branch, past->upstream) == 0;
	upstream.branch = past->upstream;
	if (trend_flops(db, &own, &flops, &unit, err) != 0)
		return -1;
	struct trend *t = trend_new(trend_metric(NULL, flops), flops, unit);
	struct buf branch;
	buf_init(&branch, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&branch, past->upstream);
	int result = trend_first(db, t, &upstream, branch.data, err);
	if (result == 0 && !is_upstream) {
		buf_clear(&branch);
		branch_text(&branch, row->branch);
		snprintf(name, sizeof name, "%.120s", branch.data);
		result = trend_over(db, t, &own, name, err);
	}
	if (result == 0)
		result = draw_threshold(db, t, row, cell, err);
	if (result == 0) {
		trend_label(t, cell, false);
		chart_draw(out, &t->chart);
	}
	buf_fini(&branch);
	trend_free(t);
	return result;
}

/* Draw the speed of the worst cell on the upstream branch and on that of the alert. Err: the database's. */
static int alert_cells_chart(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	struct past past;
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	const char *cell = worst_of(cells);
	int result = *row->repo && *cell ? begin_past(db, row, &past, err) : 0;
	if (result == 0 && *row->repo && *cell && *past.upstream)
		result = draw_chart(db, out, row, cell, &past, err);
	json_decref(cells);
	return result;
}

/* The same as a sparkline, for a list. Err: the database's. */
static int alert_cells_past(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	struct past past;
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	const char *cell = worst_of(cells);
	int result = *row->repo && *cell ? begin_past(db, row, &past, err) : 0;
	if (result == 0 && *row->repo && *cell) {
		emit_raw(out, "<p>");
		result = past_draw(out, db, &past, cell, err);
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
	struct http_response *response; /* of the page of one alert */
	int n;
	int64_t last;
};

static void cell_item(struct buf *out, const struct view_alert *row, const json_t *cell)
{
	emit_format(out, "<li>%f{decided %d} ", comparison_number(cell, "change_pct"), true);
	layout_cell_link(out, row->repo, row->branch, comparison_text(cell, "cell"));
	json_int_t comparison = json_integer_value(json_object_get(cell, "comparison"));
	if (comparison && comparison != row->comparison) /* of another suite than the comparison that opened the alert */
		emit_format(out, " <small>%lld{comparison}</small>", (long long)comparison);
	emit_raw(out, json_is_true(json_object_get(cell, "sustained")) ? " <small>sustained</small>" : "");
	if (*comparison_text(cell, "slow_calls"))
		emit_format(out, " <small>%s</small>", comparison_text(cell, "slow_calls"));
	emit_raw(out, json_is_true(json_object_get(cell, "borderline")) ? " <small>borderline</small></li>" : "</li>");
}

static void alert_cells(struct buf *out, const struct view_alert *row)
{
	size_t i;
	json_t *cell, *cells = json_loads(row->cells_json, 0, NULL);
	size_t n = json_array_size(cells);
	if (n) {
		emit_rawf(out, "<details id=cells-%lld%s><summary>%zu cell%s</summary><ul>", (long long)row->id,
			n <= CELLS_SHOWN ? " open" : "", n, n == 1 ? "" : "s");
		json_array_foreach(cells, i, cell) if (i < CELLS_LISTED) cell_item(out, row, cell);
		if (n > CELLS_LISTED)
			emit_rawf(out, "<li><a href=\"/alerts/%lld\">%zu more</a></li>", (long long)row->id, n - CELLS_LISTED);
		emit_raw(out, "</ul></details>");
	}
	json_decref(cells);
}

/* Common properties of the regressed cells: one line per group. */
static void alert_groups(struct buf *out, const struct view_alert *row)
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

/* The answers of a user; each button sends one of the API's changes of state. */
static void answers(struct buf *out, int64_t id, bool alone)
{
	static const struct {
		const char *verb, *label;
	} known[] = { { "accept", "Accept: this loss is wanted" }, { "resolve", "Fixed" },
		{ "invalidate", "Not real (measurement)" }, { "acknowledge", "I\u2019m on it" } };
	emit_raw(out, alone ? "<form id=answer method=post class=filter>" : "<form method=post class=filter>");
	emit_rawf(out, "<label class=grow>Reason <input name=reason maxlength=2000 id=why-%lld></label>", (long long)id);
	if (alone) /* where the button returns to */
		emit_rawf(out, "<input type=hidden name=back value=\"/alerts/%lld\">", (long long)id);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		emit_rawf(out, "<button formaction=\"/api/v1/alerts/%lld/%s\">%s</button>", (long long)id, known[i].verb,
			known[i].label);
	emit_raw(out, "</form>");
}

/* `with_title`: draw its sentence, too. */
static void alert_head(struct buf *out, const struct view_alert *row, bool with_title)
{
	emit_format(out,
		"<section class=card id=a%lld><h2>%s{verdict} <a href=\"/alerts/%lld\">A%lld</a> <small>%s{name}</small> ",
		(long long)row->id, alertstate_name(row->state), (long long)row->id, (long long)row->id,
		alertkind_name(row->kind));
	if (isfinite(row->worst_pct))
		layout_decided(out, row->worst_pct, true);
	emit_format(out, "</h2>%s{?<p class=lead>*</p>}<p>", with_title ? row->title : "");
	if (*row->repo)
		emit_format(out, "%s %s{branch} %s{commit} %s", row->repo, row->branch, row->target, row->subject);
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

static void alert_section(void *arg, const struct view_alert *row)
{
	struct alert_page *page = arg;
	struct buf *out = page->out;
	struct db *db = page->site->db;
	struct fw_err err = { 0 };
	page->n++;
	page->last = row->id;
	alert_head(out, row, true);
	culprits_show(out, row->culprits_json);
	bool is_drawn = explained_line(db, out, row->id, &err) == 0;
	alert_groups(out, row);
	is_drawn = is_drawn && alert_cells_past(db, out, row, &err) == 0;
	alert_cells(out, row);
	is_drawn = is_drawn && draw_events(page->site, out, row->id, &err);
	if (alertstate_is_live(row->state))
		answers(out, row->id, false);
	out->failed |= !is_drawn;
	emit_raw(out, "</section>\n");
}

/* "ada/three-stages is 4.0 % slower in 6 cells"; for other kinds than a regression their own sentence. */
static void alert_finding(const struct view_alert *row, struct buf *out)
{
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	size_t n = json_array_size(cells);
	char pct[FINDING_PERCENT_SIZE];
	if (row->kind == ALERTKIND_REGRESSION && *row->repo && isfinite(row->worst_pct) && n) {
		finding_percent(row->worst_pct, pct);
		branch_text(out, row->branch);
		buf_printf(out, " is %s slower in %zu cell%s", pct, n, n == 1 ? "" : "s");
	} else if (*row->title) {
		buf_puts(out, row->title);
	} else {
		buf_printf(out, "Alert %lld", (long long)row->id);
	}
	json_decref(cells);
}

/* The page of one alert: the answer first, then the cause, the cells, the plot, and the profile folded. */
static void alert_whole(void *arg, const struct view_alert *row)
{
	struct alert_page *page = arg;
	struct buf *out = page->out, title;
	struct db *db = page->site->db;
	struct fw_err err = { 0 };
	buf_init(&title, FINDING_BYTES);
	alert_finding(row, &title);
	layout_begin(page->response, title.data, "alerts", "alert. profile.");
	buf_fini(&title);
	layout_live(out, "alert", "The alert changed");
	alert_head(out, row, false);
	if (alertstate_is_live(row->state))
		answers(out, row->id, true);
	bool is_drawn = draw_events(page->site, out, row->id, &err);
	culprits_show(out, row->culprits_json);
	is_drawn = is_drawn && explained_line(db, out, row->id, &err) == 0;
	alert_groups(out, row);
	is_drawn = is_drawn && alert_cells_table(db, out, row, &err) == 0 && alert_cells_chart(db, out, row, &err) == 0 &&
		   explained_alert(db, out, row->id, row->comparison, &err) == 0;
	out->failed |= !is_drawn;
	emit_raw(out, "</section>\n</div>");
}

static void state_tabs(struct buf *out, const char *state)
{
	emit_rawf(out, "<nav class=tabs aria-label=\"Alerts by state\"><a href=/alerts%s>all</a>",
		state ? "" : " aria-current=true");
	for (enum alertstate one = 0; one < ALERTSTATE_N; one++)
		emit_rawf(out, "<a href=\"/alerts?state=%s\"%s>%s</a>", alertstate_name(one),
			state && strcmp(state, alertstate_name(one)) == 0 ? " aria-current=true" : "", alertstate_name(one));
	emit_raw(out, "<a href=/bisects>searches for culprits</a></nav>\n");
}

int page_alerts(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct alert_page page = { .out = &response->body, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", answer_alert_states(), &state, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	layout_begin(response, "Alerts", "alerts", "alert. profile.");
	state_tabs(page.out, state);
	layout_live(page.out, "alerts", "The alerts changed");
	if (view_alerts(site->db, state, before, ROWS, alert_section, &page, err) != 0)
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
	if (id < 0 || view_alert(page.site->db, id, alert_whole, &page, err) != 0)
		return -1;
	snprintf(data, sizeof data, "/api/v1/alerts/%lld", (long long)id);
	return layout_end(response, data, 0);
}
