/*
 * History: a cell over time, with other cells and branches in the same chart, for a selectable period, and the same points as a
 * table; without a cell, or with a partial name, a list of cells to choose from.
 */
#include "web/page/internal.h"

#include <math.h>

enum { OVER_MAX = CHART_LINES_MAX - 1 };

struct requested {
	struct scope scope;
	const char *cell, *device, *axis, *since, *metric;
	struct period period;
	int n_also, n_overlay; /* sum at most OVER_MAX */
	int n_left;            /* requested lines above OVER_MAX */
	const char *also[OVER_MAX];
	char overlay[OVER_MAX][BRANCH_KEY_MAX];
};

static struct view_scope scope_of(const struct requested *a, const char *cell, const char *branch)
{
	return (struct view_scope){ .metric = a->metric ? trend_stored(trend_metric(a->metric, true)) : NULL,
		.repo = a->scope.repo,
		.branch = branch,
		.cell = cell,
		.device = a->device,
		.since = a->period.since,
		.until = a->period.until };
}

/* ---- form ---------------------------------------------------------------------------------------------------------- */

static void write_api_address(struct buf *out, const struct requested *a, const char *cell, const char *branch)
{
	buf_puts(out, "/api/v1/history?repo=");
	emit_argument(out, a->scope.repo);
	buf_puts(out, "&cell=");
	emit_argument(out, cell);
	if (*branch) {
		buf_puts(out, "&branch=");
		emit_argument(out, branch);
	}
	if (a->device && *a->device) {
		buf_puts(out, "&device=");
		emit_argument(out, a->device);
	}
	if (a->metric && trend_stored(trend_metric(a->metric, true))) {
		buf_puts(out, "&metric=");
		emit_argument(out, a->metric);
	}
}

/* The cells to choose from: as options of the form, and without a chosen cell also as links. */
struct choice {
	const struct requested *requested;
	const char *typed; /* partial name that was typed instead of a cell; "" none */
	int at;            /* its field: -1 the first cell, else index of `also` */
	bool is_offered;
	int found, given;
	struct buf options, links;
};

enum {
	KEYS_LISTED_BYTES = 16384,
	KEYS_LINKED_BYTES = 6144
}; /* a link repeats the name, and each linked cell also has an option */

static void choice_init(struct choice *c, const struct requested *a)
{
	*c = (struct choice){ .requested = a, .typed = "", .at = -1 };
	buf_init(&c->options, 1 << 20);
	buf_init(&c->links, 1 << 20);
}

static void choice_fini(struct choice *c)
{
	buf_fini(&c->options);
	buf_fini(&c->links);
}

static void argument(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	emit_rawf(out, "&amp;%s=", name);
	emit_argument(out, value);
}

/* Arguments that a link changes; NULL: as requested. `key` replaces the first cell, or also[at] if `at` is not negative. */
struct other {
	const char *key, *branch, *since;
	int at;
};

static void page_address(struct buf *out, const struct requested *a, const struct other *other)
{
	emit_raw(out, "/history?cell=");
	emit_argument(out, other->key && other->at < 0 ? other->key : a->cell);
	argument(out, "repo", a->scope.repo);
	argument(out, "branch", other->branch ? other->branch : a->scope.branch);
	for (int i = 0; i < a->n_also; i++)
		argument(out, "also", other->key && i == other->at ? other->key : a->also[i]);
	for (int i = 0; i < a->n_overlay; i++)
		argument(out, "overlay", a->overlay[i]);
	argument(out, "device", a->device ? a->device : "");
	argument(out, "since", other->since ? other->since : a->since);
	argument(out, "axis", strcmp(a->axis, "push") == 0 ? "" : a->axis);
	argument(out, "metric", a->metric ? a->metric : "");
}

/* Write the address of this page with `key` instead of the typed text. */
static void link_to(struct buf *out, const struct choice *c, const char *key)
{
	emit_raw(out, "<li><a href=\"");
	page_address(out, c->requested, &(struct other){ .key = key, .at = c->at });
	emit_format(out, "\">%s</a></li>", key);
}

/* ---- chips: the branch and the period ------------------------------------------------------------------------------ */

static void draw_chip(struct buf *out, const struct requested *a, const struct other *other, const char *label, bool is_current)
{
	if (is_current) {
		emit_format(out, "<a aria-current=true>%s</a>", label);
		return;
	}
	emit_raw(out, "<a href=\"");
	page_address(out, a, other);
	emit_format(out, "\">%s</a>", label);
}

static void branch_chip(struct buf *out, const struct requested *a, const char *branch)
{
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, branch);
	draw_chip(out, a, &(struct other){ .branch = branch }, *branch ? text.data : "all branches",
		strcmp(a->scope.branch, branch) == 0);
	buf_fini(&text);
}

/* Draw links for the upstream branch, all branches, the drawn branches, and four periods. */
static int draw_chips(struct db *db, struct buf *out, const struct requested *a, struct fw_err *err)
{
	static const char *const periods[][2] = { { "", "all time" }, { "7d", "last week" }, { "30d", "last month" },
		{ "13w", "last quarter" } };
	char upstream[BRANCH_KEY_MAX] = "";
	int64_t repo;
	bool is_named = false;
	int found = store_repo_find(db, a->scope.repo, &repo, err);
	if (found < 0 || (found == 1 && store_repo_upstream_branch(db, repo, upstream, err) < 0))
		return -1;
	emit_raw(out, "<nav class=tabs aria-label=\"Branch and period\">");
	if (*upstream)
		branch_chip(out, a, upstream);
	branch_chip(out, a, "");
	if (*a->scope.branch && strcmp(a->scope.branch, upstream) != 0)
		branch_chip(out, a, a->scope.branch);
	for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
		bool is_current = strcmp(a->since, periods[i][0]) == 0;
		draw_chip(out, a, &(struct other){ .since = periods[i][0] }, periods[i][1], is_current);
		is_named |= is_current;
	}
	if (!is_named)
		draw_chip(out, a, &(struct other){ .since = a->since }, a->since, true);
	emit_raw(out, "</nav>\n");
	return 0;
}

static void take_choice(void *arg, const char *key)
{
	struct choice *c = arg;
	emit_format(&c->options, "<option value=\"%s\"></option>", key);
	if (c->is_offered)
		link_to(&c->links, c, key);
}

/* Return whether any branch of this repository has a measurement of the cell. 1, 0, -1. */
static int is_known(struct site *site, const struct requested *a, const char *cell, struct fw_err *err)
{
	struct view_scope anywhere = { .repo = a->scope.repo, .cell = cell };
	struct fw_err why = { 0 };
	if (view_cell_known(site->db, &anywhere, &why) == 0)
		return 1;
	return why.code == ERR_NOT_FOUND ? 0 : err_set(err, why.code, "%s", why.text);
}

/* Find the first field that does not contain a cell's name. */
static int find_typed(struct site *site, const struct requested *a, struct choice *c, struct fw_err *err)
{
	int known = 1;
	for (int i = -1; known == 1 && i < a->n_also; i++) {
		c->at = i;
		c->typed = i < 0 ? a->cell : a->also[i];
		known = *c->typed ? is_known(site, a, c->typed, err) : 0;
	}
	if (known == 1)
		c->typed = "";
	c->is_offered = known == 0;
	return known < 0 ? -1 : 0;
}

static int choose(struct site *site, const struct requested *a, struct choice *c, struct fw_err *err)
{
	if (!a->scope.repo[0])
		return 0;
	if (find_typed(site, a, c, err) != 0)
		return -1;
	struct picker_cells of = {
		.words = c->typed, .bytes = c->is_offered ? KEYS_LINKED_BYTES : KEYS_LISTED_BYTES, .each = take_choice, .arg = c
	};
	int result = picker_cells(site->db, a->scope.repo, a->scope.branch, &of, err);
	c->found = of.found;
	c->given = of.given;
	c->is_offered = c->is_offered && (of.found || !*c->typed);
	return result;
}

static void cell_input(struct buf *out, const char *label, const char *name, const char *value)
{
	emit_format(out,
		"<label class=grow>%-s "
		"<input name=%-s list=cells value=\"%s\" placeholder=\"FAMILY/.../forward, or terms of it\"></label>",
		label, name, value);
}

/* Draw a field for each line over the first one, and an empty field for another. */
static int draw_over_fields(struct site *site, struct buf *out, const struct requested *a, struct fw_err *err)
{
	int result = 0, left = OVER_MAX - a->n_also - a->n_overlay;
	for (int i = 0; i < a->n_also; i++)
		cell_input(out, "Compare with cell", "also", a->also[i]);
	if (left > 0)
		cell_input(out, "Compare with cell", "also", "");
	for (int i = 0; i < a->n_overlay + (left > 0) && result == 0; i++)
		result = picker_branch(out, site->db, a->scope.repo, "overlay", "Compare with branch",
			i < a->n_overlay ? a->overlay[i] : "", "none", err);
	return result;
}

static int form(struct site *site, struct buf *out, const struct requested *a, const struct choice *cells,
	const struct trend_metric *metric, bool flops, struct fw_err *err)
{
	emit_raw(out, cells->is_offered || !*a->cell ? "<details open>" : "<details>");
	emit_raw(out, "<summary>Compare with</summary><form class=filter action=/history>");
	cell_input(out, "Cell", "cell", a->cell);
	emit_raw(out, "<datalist id=cells>");
	buf_append(out, cells->options.data, cells->options.len);
	emit_raw(out, "</datalist>");
	if (picker_repo(out, site->db, a->scope.repo, false, err) ||
		picker_branch(out, site->db, a->scope.repo, "branch", "Branch", a->scope.branch, "all", err) ||
		draw_over_fields(site, out, a, err))
		return -1;
	emit_raw(out, "<label>Show <select name=metric data-go>");
	for (int i = 0; i < TREND_METRICS; i++)
		if (flops || !trend_needs_flops(&trend_metrics[i]))
			layout_option(out, trend_metrics[i].name, trend_metrics[i].label, metric->name);
	emit_raw(out, "</select></label><label>Axis <select name=axis data-go>");
	layout_option(out, "push", "by push", a->axis);
	layout_option(out, "date", "by date", a->axis);
	emit_format(out, "</select></label>%s{?<input type=hidden name=since value=\"*\">}", a->since);
	if (a->device && *a->device)
		emit_format(out, "<label>Device <input name=device value=\"%s\"></label>", a->device);
	emit_raw(out, "<button>Show</button></form></details>\n");
	return 0;
}

/* List the cells if the request has none, or a partial name. */
static void offer_cells(struct buf *out, const struct choice *c)
{
	if (!c->found) {
		layout_empty(out, "", "No cell has been measured yet.",
			"Open the history of a cell from any <a href=/comparisons>comparison</a>.");
		return;
	}
	emit_raw(out, c->at < 0 ? "<p class=lead>Which cell?</p>" : "<p class=lead>Which additional cell?</p>");
	if (c->given < c->found)
		emit_rawf(out, "<p>%d of %d; type more terms of the name above, in any order.</p>", c->given, c->found);
	emit_raw(out, "<ul>");
	buf_append(out, c->links.data, c->links.len);
	emit_raw(out, "</ul>");
}

/* ---- page ---------------------------------------------------------------------------------------------------------- */

/* Explain what the metric requires if no point has it. */
static void draw_why_empty(struct buf *out, const struct trend *t)
{
	const struct chart_line *line = &t->chart.line[0];
	const char *name = t->metric->name;
	for (int i = 0; i < line->n; i++)
		if (isfinite(line->point[i].y))
			return;
	if (line->n == 0)
		return;
	if (strcmp(name, "reference") == 0)
		emit_raw(out, "<p>No push of this cell was measured against a reference commit yet.</p>");
	else if (strcmp(name, "peak") == 0)
		emit_raw(out, "<p>The peak of this device is not known, or no environment has a held clock yet.</p>");
	else if (trend_stored(t->metric))
		emit_format(out, "<p>No push of this cell has a value of %s: %-s.</p>", name, t->metric->unit);
	else if (strcmp(name, "held") == 0)
		emit_raw(out, "<p>The device reports no clock of a call, or no environment has a held clock yet.</p>");
}

static void list_marks(struct buf *out, const struct trend *t)
{
	if (t->chart.n_marks == 0)
		return;
	emit_raw(out, "<ul class=life>");
	for (int i = 0; i < t->chart.n_marks; i++)
		emit_format(out, "<li>%lld{time} %s</li>", (long long)t->chart.mark[i].at, t->chart.mark[i].label);
	if (t->marks_left)
		emit_rawf(out, "<li>%d more event%s, not drawn; a shorter period shows them</li>", t->marks_left,
			t->marks_left == 1 ? "" : "s");
	emit_raw(out, "</ul>\n");
	/* a step needs earlier points of the same baseline period */
	if (t->n_baseline_periods > 1)
		emit_raw(out,
			"<p>Each environment begins a new series, and steps are detected only within a series. The first commit of an environment is judged by its comparison, with both sides in that environment.</p>\n");
}

/* Draw a link to the first line as a file; a script saves it as PNG. */
static void offer_picture(struct buf *out, const struct requested *a)
{
	struct buf address;
	buf_init(&address, 65536);
	write_api_address(&address, a, a->cell, a->scope.branch);
	const char *query = address.len ? strchr(address.data, '?') : NULL;
	if (query)
		emit_format(out, "<p><a data-png href=\"/api/v1/history.svg%s\">SVG</a></p>\n", query);
	buf_fini(&address);
}

static void draw(struct buf *out, const struct requested *a, struct trend *t, const char *data)
{
	char columns[80];
	snprintf(columns, sizeof columns, "~Finished (UTC)|Commit|>%s|>Change%s|Verdict",
		trend_stored(t->metric) ? t->metric->label
		: t->flops              ? t->unit.name
					: "ms",
		trend_stored(t->metric) ? " of speed" : "");
	trend_label(t, a->cell, strcmp(a->axis, "date") == 0);
	t->chart.data = data;
	t->chart.from = a->period.since;
	t->chart.to = a->period.until;
	chart_draw(out, &t->chart);
	offer_picture(out, a);
	if (a->n_left)
		emit_rawf(out, "<p class=\"banner warn\">A chart shows %d lines; %d more %s requested.</p>\n", CHART_LINES_MAX,
			a->n_left, a->n_left == 1 ? "was" : "were");
	draw_why_empty(out, t);
	list_marks(out, t);
	if (t->chart.line[0].n) {
		emit_raw(out, "<h2>As a table</h2>");
		layout_table(out, columns);
		buf_append(out, t->over.data, t->over.len);
		if (t->over.len)
			emit_format(out, "<tr><th scope=colgroup colspan=5>%s</th></tr>\n", t->chart.line[0].name);
		buf_append(out, t->table.data, t->table.len);
		layout_table_end(out);
	}
}

/* Name a line so that it differs from the others: by branch, by cell if there are several, or by both. */
static void line_name(const struct requested *a, const char *cell, const char *branch, char *name, size_t size)
{
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, branch);
	if (!a->n_also)
		snprintf(name, size, "%s", *branch ? text.data : "all branches");
	else if (!a->n_overlay)
		snprintf(name, size, "%s", cell);
	else
		snprintf(name, size, "%.90s, %.30s", cell, *branch ? text.data : "all branches");
	buf_fini(&text);
}

static int add(struct site *site, struct trend *t, const struct requested *a, const char *cell, const char *branch,
	struct buf *data, struct fw_err *err)
{
	struct view_scope of = scope_of(a, cell, branch);
	char name[sizeof t->chart.line[0].name];
	bool is_first = t->chart.n_lines == 0;
	line_name(a, cell, branch, name, sizeof name);
	if (!is_first)
		buf_putc(data, ' ');
	write_api_address(data, a, cell, branch);
	return is_first ? trend_add_first(site->db, t, &of, name, err) : trend_add_line(site->db, t, &of, name, err);
}

struct finding_of {
	struct buf title;
	bool has_step;
	struct outcome step;
};

/* Read all lines. `data`: the addresses of their points, separated by spaces. */
static int read_lines(struct site *site, struct trend *t, const struct requested *a, struct buf *data, struct fw_err *err)
{
	t->has_table = true;
	int result = add(site, t, a, a->cell, a->scope.branch, data, err);
	for (int i = 0; i < a->n_overlay && result == 0; i++)
		result = add(site, t, a, a->cell, a->overlay[i], data, err);
	for (int i = 0; i < a->n_also && result == 0; i++)
		result = add(site, t, a, a->also[i], a->scope.branch, data, err);
	return result;
}

/* Return the cell of a line, in the order of read_lines. */
static const char *cell_of(const struct requested *a, int line)
{
	return line > a->n_overlay ? a->also[line - a->n_overlay - 1] : a->cell;
}

static const char *branch_of(const struct requested *a, int line)
{
	return line > 0 && line <= a->n_overlay ? a->overlay[line - 1] : a->scope.branch;
}

/* Write "keep 0.1, block 64, 49152 backward on main". */
static void write_name(struct buf *out, const struct headline *headline, const char *cell, const char *branch)
{
	if (*headline->title && headline->size)
		buf_printf(out, "%s, %lld %s", headline->title, (long long)headline->size, headline->direction);
	else
		buf_puts(out, cell);
	if (*branch) {
		buf_puts(out, " on ");
		branch_text(out, branch);
	}
}

/* Write the newest change of a line that has all branches. */
static void write_step(struct buf *out, const struct outcome *o, const struct chart_point *step)
{
	buf_puts(out, "; ");
	if (*o->branch)
		branch_text(out, o->branch);
	buf_printf(out, "%s%.1f %% %s at %.7s", *o->branch ? " is " : "", fabs(step->change_pct),
		step->is_slower ? "slower" : "faster", step->label);
}

/*
 * The title of the page, the result of the comparison that its newest step is of, and the threshold in the chart as of the newest
 * point.
 */
static int find(struct site *site, struct trend *t, const struct requested *a, struct finding_of *found, struct fw_err *err)
{
	int at;
	const struct chart_point *step = trend_step(t, &at);
	const struct chart_line *line = &t->chart.line[at], *first = &t->chart.line[0];
	const char *cell = cell_of(a, at), *branch = branch_of(a, at);
	struct headline headline;
	struct buf name;
	if (reported_read(site->db, line->n ? line->point[line->n - 1].comparison : 0, cell, &headline, err) != 0)
		return -1;
	found->has_step = step;
	if (step && outcome_read(site->db, step->comparison, &found->step, err) != 0)
		return -1;
	found->step.cell = step && verdict_is_change(found->step.verdict) ? cell : NULL;
	found->step.cell_change_pct = step ? step->change_pct : NAN;
	buf_init(&name, FINDING_BYTES);
	write_name(&name, &headline, cell, branch);
	trend_finding(t, at, *branch != '\0', name.data, headline.threshold_pct, &found->title);
	if (step && !*branch)
		write_step(&found->title, &found->step, step);
	if (first->n && !trend_stored(t->metric)) /* points have no limits of costs */
		trend_limit(t, first->point[first->n - 1].y, headline.threshold_pct);
	found->title.failed |= name.failed;
	buf_fini(&name);
	return 0;
}

int page_history_svg(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct requested a = {
		.cell = http_query(r, "cell"), .device = http_query(r, "device"), .metric = http_query(r, "metric")
	};
	const char *axis, *metric;
	bool flops;
	struct unit unit;
	if (!a.cell || !*a.cell)
		return answer_problem(r, response, 400, "cell is required: a key as shown in comparisons");
	if (answer_choice(r, "axis", "push date", &axis, err) != 0 ||
		answer_choice(r, "metric", TREND_WORDS, &metric, err) != 0 || scope_read(site, r, &a.scope, err) != 0)
		return -1;
	struct view_scope of = scope_of(&a, a.cell, a.scope.branch);
	int found = trend_flops(site->db, &of, &flops, &unit, err);
	struct trend *t = found == 0 ? trend_new(trend_metric(metric, flops), flops, unit) : NULL;
	int result = found == 0 ? trend_add_first(site->db, t, &of, "", err) : -1;
	if (result == 0) {
		trend_label(t, a.cell, axis && strcmp(axis, "date") == 0);
		response->type = "image/svg+xml; charset=utf-8";
		chart_image(&response->body, &t->chart);
	}
	trend_free(t);
	return result;
}

/* Err: ERR_INVALID, ERR_NOT_FOUND. */
static int read_requested(struct site *site, struct http_request *r, struct requested *a, struct fw_err *err)
{
	const char *value, *cell = http_query(r, "cell"), *axis = http_query(r, "axis"), *since = http_query(r, "since");
	a->cell = cell ? cell : "";
	a->device = http_query(r, "device");
	a->metric = http_query(r, "metric");
	a->axis = axis && strcmp(axis, "date") == 0 ? "date" : "push";
	a->since = since ? since : "";
	for (int i = 0; (value = http_query_at(r, "overlay", i)); i++)
		if (*value && a->n_overlay < OVER_MAX)
			branch_key(value, a->overlay[a->n_overlay++]);
		else
			a->n_left += *value != 0;
	for (int i = 0; (value = http_query_at(r, "also", i)); i++)
		if (*value && a->n_overlay + a->n_also < OVER_MAX)
			a->also[a->n_also++] = value;
		else
			a->n_left += *value != 0;
	if (period_read(r, &a->period, err) != 0 || scope_offer(site, r, &a->scope, err) != 0)
		return -1;
	if (!scope_branch(r, a->scope.branch)) /* all branches, unless the request names one */
		a->scope.branch[0] = '\0';
	return 0;
}

static int answer(struct site *site, struct http_response *response, struct requested *a, struct choice *cells, struct trend **t,
	struct fw_err *err)
{
	struct buf *out = &response->body, data;
	struct finding_of found = { .has_step = false };
	bool flops = true, is_chosen = *a->cell && !(cells->is_offered && cells->at < 0);
	struct unit unit = unit_of_rates(NAN);
	struct view_scope of = scope_of(a, a->cell, a->scope.branch);
	int result = is_chosen ? trend_flops(site->db, &of, &flops, &unit, err) : 0;
	const struct trend_metric *metric = trend_metric(a->metric, flops);
	buf_init(&data, 65536);
	buf_init(&found.title, FINDING_BYTES);
	if (result == 0 && is_chosen) {
		*t = trend_new(metric, flops, unit);
		result = read_lines(site, *t, a, &data, err) != 0 || find(site, *t, a, &found, err) != 0 ? -1 : 0;
	}
	if (result == 0) {
		layout_begin(response, found.title.len ? found.title.data : "History", "history", NULL);
		if (found.has_step)
			outcome_draw(out, &found.step);
		result = is_chosen && !cells->is_offered ? draw_chips(site->db, out, a, err) : 0;
	}
	if (result == 0)
		result = form(site, out, a, cells, metric, flops, err);
	if (result == 0 && (cells->is_offered || !*a->cell))
		offer_cells(out, cells);
	if (result == 0 && is_chosen)
		draw(out, a, *t, data.data);
	buf_clear(&data);
	if (is_chosen)
		write_api_address(&data, a, a->cell, a->scope.branch);
	if (result == 0)
		layout_end(response, data.len ? data.data : NULL, 0);
	if (found.has_step)
		outcome_fini(&found.step);
	buf_fini(&found.title);
	buf_fini(&data);
	return result;
}

int page_history(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct requested a = { .n_also = 0 };
	struct choice cells;
	struct trend *t = NULL;
	if (read_requested(site, r, &a, err) != 0)
		return -1;
	choice_init(&cells, &a);
	int result = choose(site, &a, &cells, err) != 0 ? -1 : answer(site, response, &a, &cells, &t, err);
	trend_free(t);
	choice_fini(&cells);
	return result;
}
