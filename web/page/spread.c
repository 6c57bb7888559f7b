#include "web/page/internal.h"

#include <math.h>

enum { ROWS_NAMED_MAX = 40 }; /* rows of a direction; with more, unchanged cells are strips without names */
#define TICKS_SEPARATE 0.2

struct row {
	struct comparison_cell *cell;
	struct comparison_judged judged;
};

struct spread {
	struct buf *out;
	struct comparison *c;
	struct axis axis;
	double threshold_pct;
};

struct axis comparison_axis(struct comparison *c, double *threshold_pct)
{
	struct axis axis = axis_empty();
	*threshold_pct = NAN;
	for (int i = 0; i < c->n_cells; i++) {
		struct comparison_judged judged = comparison_judged(&c->cell[i]);
		axis_cover(&axis, judged.change_pct);
		axis_cover(&axis, judged.ci_low_pct);
		axis_cover(&axis, judged.ci_high_pct);
		*threshold_pct = fmax(*threshold_pct, c->cell[i].threshold_pct);
	}
	axis_finish(&axis, *threshold_pct);
	return axis;
}

/* ---- row ----------------------------------------------------------------------------------------------------------- */

/* Units: percent of the width. */
static double x_of(const struct spread *s, double pct)
{
	return 100 * axis_at(&s->axis, pct);
}

static void draw_strip(const struct spread *s, const struct comparison_judged *judged)
{
	emit_raw(s->out, "<svg class=strip aria-hidden=true>");
	if (isfinite(judged->ci_low_pct) && isfinite(judged->ci_high_pct))
		emit_rawf(s->out, "<line x1=%.2f%% x2=%.2f%% y1=50%% y2=50%% />", x_of(s, judged->ci_low_pct),
			x_of(s, judged->ci_high_pct));
	if (isfinite(judged->change_pct))
		emit_rawf(s->out, "<circle cx=%.2f%% cy=50%% r=4 />", x_of(s, judged->change_pct));
	emit_raw(s->out, "</svg>");
}

static void draw_change(struct buf *out, const struct comparison_cell *cell, const struct comparison_judged *judged)
{
	emit_raw(out, "<span class=n>");
	if (isfinite(judged->change_pct))
		layout_decided(out, judged->change_pct, verdict_is_change(cell->verdict));
	else
		emit_text(out, *cell->failure ? cell->failure : "\u2013");
	if (isfinite(judged->ci_low_pct))
		emit_format(out, " <small>%.2f{signed}\u2026%.2f{signed}</small>", judged->ci_low_pct, judged->ci_high_pct);
	emit_raw(out, "</span>");
}

static void draw_row(const struct spread *s, const struct row *row, bool is_named)
{
	struct buf *out = s->out;
	const struct comparison_cell *cell = row->cell;
	const char *label = verdict_label(s->c->kind, cell->verdict);
	emit_format(out, "<li><a href=\"?open=%d#c%d\" data-cell=c%d class=\"%-s%-s\" title=\"%s%-s", cell->n, cell->n, cell->n,
		layout_tone(label), is_named ? "" : " thin", cell->key, is_named ? "\"><span class=name>" : "\" tabindex=-1>");
	if (is_named)
		emit_format(out, "<i aria-hidden=true>%-s</i><span class=gone>%-s </span>%s{case %s %lld}</span>",
			layout_sign(label), label, cell->key, cell->title, (long long)cell->size);
	draw_strip(s, &row->judged);
	if (is_named)
		draw_change(out, cell, &row->judged);
	emit_raw(out, "</a></li>\n");
}

/* ---- direction ----------------------------------------------------------------------------------------------------- */

/* Compare: from the largest regression to the largest improvement; rows without a value come last. */
static int by_change(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double left = x->judged.change_pct, right = y->judged.change_pct;
	if (isnan(left) || isnan(right))
		return isnan(left) != isnan(right) ? (isnan(left) ? 1 : -1) : x->cell->n - y->cell->n;
	return left != right ? (left < right ? -1 : 1) : x->cell->n - y->cell->n;
}

static int gather(struct comparison *c, const char *direction, struct row *row)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		if (strcmp(c->cell[i].direction, direction) == 0)
			row[n++] = (struct row){ &c->cell[i], comparison_judged(&c->cell[i]) };
	qsort(row, (size_t)n, sizeof *row, by_change);
	return n;
}

/* Draw the background of all rows of a panel: the band of the threshold, the line at 0, and labels above. */
static void draw_backdrop(const struct spread *s)
{
	double tick[AXIS_TICKS_MAX];
	int n = axis_ticks(&s->axis, TICKS_SEPARATE, tick);
	emit_raw(s->out, "<svg class=axis aria-hidden=true>");
	if (isfinite(s->threshold_pct))
		emit_rawf(s->out, "<rect x=%.2f%% width=%.2f%% y=20 height=100%% />", x_of(s, -s->threshold_pct),
			x_of(s, s->threshold_pct) - x_of(s, -s->threshold_pct));
	for (int i = 0; i < n; i++) {
		double x = x_of(s, tick[i]);
		emit_rawf(s->out, "<line%s x1=%.2f%% x2=%.2f%% y1=20 y2=100%% /><text x=%.2f%% y=13>",
			tick[i] == 0 ? " class=z" : "", x, x, x);
		if (tick[i] != 0)
			emit_rawf(s->out, "%s%g", tick[i] < 0 ? "\u2212" : "+", fabs(tick[i]));
		else
			emit_raw(s->out, "0\u00a0%");
		emit_raw(s->out, "</text>");
	}
	emit_raw(s->out, "</svg>");
}

/* Write "10 forward cells: -0.06 to +0.07 %". */
static void draw_fold_line(struct buf *out, const char *direction, const struct row *row, int n)
{
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < n; i++) {
		low = isfinite(row[i].judged.change_pct) ? fmin(low, row[i].judged.change_pct) : low;
		high = isfinite(row[i].judged.change_pct) ? fmax(high, row[i].judged.change_pct) : high;
	}
	emit_format(out, "<details class=rest><summary>%d %s cell%-s", n, direction, n == 1 ? "" : "s");
	if (isfinite(low))
		emit_format(out, ": %.2f{signed} to %.2f{signed}\u00a0%%", low, high);
	emit_raw(out, "</summary><div class=panel>");
}

static void draw_panel(const struct spread *s, const char *direction, struct row *row, bool is_folded)
{
	int n = gather(s->c, direction, row);
	if (is_folded)
		draw_fold_line(s->out, direction, row, n);
	else
		emit_raw(s->out, "<div class=panel>");
	if (*direction && !is_folded)
		emit_format(s->out, "<h3>%s <small>%d cell%-s</small></h3>", direction, n, n == 1 ? "" : "s");
	draw_backdrop(s);
	emit_raw(s->out, "<ol class=rows>\n");
	for (int i = 0; i < n; i++)
		draw_row(s, &row[i], n <= ROWS_NAMED_MAX || !comparison_is_quiet(row[i].cell->verdict));
	emit_raw(s->out, is_folded ? "</ol></div></details>\n" : "</ol></div>\n");
}

/* ---- panels -------------------------------------------------------------------------------------------------------- */

static bool is_first_of_direction(const struct comparison *c, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(c->cell[i].direction, c->cell[n].direction) == 0)
			return false;
	return true;
}

/* Return the first verdict, in order of precedence, among the cells of a direction; NULL: of all cells. */
static enum verdict worst_of(const struct comparison *c, const char *direction)
{
	enum verdict worst = VERDICT_NONE;
	for (int i = 0; i < c->n_cells; i++)
		if (!direction || strcmp(c->cell[i].direction, direction) == 0)
			worst = verdict_worse(worst, c->cell[i].verdict);
	return worst;
}

static bool has_change(struct comparison *c)
{
	for (int i = 0; i < c->n_cells; i++)
		if (isfinite(c->cell[i].change_pct))
			return true;
	return false;
}

static void draw_caption(const struct spread *s)
{
	emit_rawf(s->out,
		"<figcaption>%d cell%s by change of speed, %sthe greatest slowdown first; the line is the 95\u00a0%% interval",
		s->c->n_cells, s->c->n_cells == 1 ? "" : "s", comparison_is_side_by_side(s->c) ? "side by side, " : "");
	if (isfinite(s->threshold_pct))
		emit_rawf(s->out, ", the band a change below the threshold of %.3g\u00a0%%", s->threshold_pct);
	emit_raw(s->out, "</figcaption>");
}

void comparison_spread(struct buf *out, struct comparison *c)
{
	struct spread s = { .out = out, .c = c };
	if (!has_change(c))
		return;
	struct row *row = mem_alloc((size_t)c->n_cells * sizeof *row);
	unsigned *worst =
		mem_alloc((size_t)c->n_cells * sizeof *worst); /* worst[n_cells]: of the direction that begins with the cell */
	for (int i = 0; i < c->n_cells; i++)
		worst[i] = is_first_of_direction(c, i) ? worst_of(c, c->cell[i].direction) : VERDICT_NONE + 1;
	s.axis = comparison_axis(c, &s.threshold_pct);
	emit_raw(out, "<figure class=spread id=spread>");
	draw_caption(&s);
	emit_raw(out, "<div class=panels>");
	bool all_quiet = comparison_is_quiet(worst_of(c, NULL));
	for (unsigned verdict = 0; verdict <= VERDICT_NONE; verdict++)
		for (int i = 0; i < c->n_cells; i++)
			if (worst[i] == verdict)
				draw_panel(
					&s, c->cell[i].direction, row, !all_quiet && comparison_is_quiet((enum verdict)verdict));
	emit_raw(out, "</div></figure>\n");
	free(worst);
	free(row);
}
