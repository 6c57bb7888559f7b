#include "web/page/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"
#include "web/html/html.h"

enum {
	PASTS_MAX = 24, /* cells that are shown with their past; of hundreds it would be slow, and nobody looks */
	ROWS_MAX = 200  /* a page of all that a large suite can lose would be megabytes */
};

struct line {
	const json_t *cell;
	struct headline headline;
	int64_t comparison;
	double change_pct;
};

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text(const json_t *o, const char *key)
{
	const char *t = json_string_value(json_object_get(o, key));
	return t ? t : "";
}

static const char *worst_of(const json_t *cells)
{
	const json_t *cell, *worst = json_array_get(cells, 0);
	size_t i;
	json_array_foreach(cells, i, cell) if (number(cell, "change_pct") < number(worst, "change_pct")) worst = cell;
	return text(worst, "cell");
}

/* Points up to when it was opened. */
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
	if (l->comparison && l->comparison != row->comparison) /* of another suite than the one that opened it */
		emit_rawf(out, " <small><a href=\"/comparisons/%lld\">comparison %lld</a></small>", (long long)l->comparison,
			(long long)l->comparison);
	if (json_is_true(json_object_get(l->cell, "sustained")))
		emit_raw(out, " <small>sustained</small>");
	if (json_is_true(json_object_get(l->cell, "borderline")))
		emit_raw(out, " <small>borderline</small>");
	if (*text(l->cell, "slow_calls")) {
		emit_raw(out, " <small>");
		emit_text(out, text(l->cell, "slow_calls"));
		emit_raw(out, "</small>");
	}
}

static int table_row(struct db *db, struct buf *out, const struct view_alert *row, const struct line *l, const struct axis *axis,
	const struct past *past, struct fw_err *err)
{
	int result = 0;
	emit_raw(out, "<tr><th scope=row class=wrap>");
	layout_cell_link(out, row->repo, row->branch, text(l->cell, "cell"));
	marks(out, row, l);
	emit_raw(out, "</th><td class=w>");
	if (past)
		result = past_draw(out, db, past, text(l->cell, "cell"), err);
	emit_raw(out, "</td><td class=w>");
	strip(out, axis, &l->headline);
	emit_raw(out, "</td><td class=n>");
	headline_change(out, &l->headline, VERDICT_REGRESSION, l->change_pct);
	emit_raw(out, "</td></tr>\n");
	return result;
}

static int draw_table(struct db *db, struct buf *out, const struct view_alert *row, struct line *line, int n, struct fw_err *err)
{
	static const char *const columns[] = { "Cell", "~Last pushes", "~Interval", ">Change" };
	struct axis axis = axis_none();
	struct past past;
	double threshold_pct = NAN;
	int result = begin_past(db, row, &past, err);
	for (int i = 0; i < n && result == 0; i++) {
		line[i].comparison = json_integer_value(json_object_get(line[i].cell, "comparison"));
		line[i].change_pct = number(line[i].cell, "change_pct");
		result = reported_of(db, line[i].comparison ? line[i].comparison : row->comparison, text(line[i].cell, "cell"),
			&line[i].headline, err);
		axis_cover(&axis, line[i].headline.low_pct);
		axis_cover(&axis, line[i].headline.high_pct);
		axis_cover(&axis, line[i].headline.change_pct);
		threshold_pct = fmax(threshold_pct, line[i].headline.threshold_pct);
	}
	axis_settle(&axis, threshold_pct);
	qsort(line, (size_t)n, sizeof *line, by_change);
	layout_table(out, 4, columns);
	for (int i = 0; i < n && i < ROWS_MAX && result == 0; i++)
		result = table_row(db, out, row, &line[i], &axis, i < PASTS_MAX ? &past : NULL, err);
	layout_table_end(out);
	if (n > ROWS_MAX)
		emit_rawf(out, "<p class=dim>The worst %d; %d more are in <a href=\"/api/v1/alerts/%lld\">JSON</a>.</p>\n",
			ROWS_MAX, n - ROWS_MAX, (long long)row->id);
	return result;
}

int alert_cells_table(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
{
	json_t *cell, *cells = json_loads(row->cells_json, 0, NULL);
	int n = 0, result = 0;
	size_t i;
	struct line *line = json_array_size(cells) ? calloc(json_array_size(cells), sizeof *line) : NULL;
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
	struct buf text;
	if (!t)
		return err_set(err, ERR_INTERNAL, "out of memory");
	buf_init(&text, 16 * BRANCH_KEY_MAX);
	branch_text(&text, past->upstream);
	int result = trend_first(db, t, &upstream, text.data, err);
	if (result == 0 && !is_upstream) {
		buf_clear(&text);
		branch_text(&text, row->branch);
		snprintf(name, sizeof name, "%.120s", text.data);
		result = trend_over(db, t, &own, name, err);
	}
	if (result == 0) {
		trend_label(t, cell, false);
		chart_draw(out, &t->chart);
	}
	buf_fini(&text);
	trend_free(t);
	return result;
}

int alert_cells_chart(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
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

int alert_cells_past(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err)
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
