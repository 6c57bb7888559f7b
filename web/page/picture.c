#include "web/page/internal.h"

#include <math.h>

enum { SHOWN_MAX = 60, NAME_MAX_BYTES = 36 };
/* Units: pixels. Columns of numbers are named by their right edge. */
enum { WIDTH = 940, EDGE = 16, TOP = 78, ROW = 22, HEADING = 34, BOTTOM = 34 };
enum { UNIT_X = 290, BASE_X = 340, TARGET_X = 400, AXIS_X = 430, AXIS_WIDTH = 300, CHANGE_X = 808, VERDICT_X = 826 };
#define TICKS_SEPARATE 0.14

static const char STYLE[] = "text{font:13px sans-serif;fill:#24292f}.h{font-weight:600}.s{fill:#57606a;font-size:12px}"
			    ".n{text-anchor:end;font-variant-numeric:tabular-nums}.m{text-anchor:middle}.z{stroke:#8c959f}"
			    ".t{stroke:#8c959f;stroke-dasharray:2 2}.c{stroke-width:3;stroke-linecap:round}"
			    "text.bad{fill:#9a3a06}text.good{fill:#0a567e}text.warn{fill:#7a5600}"
			    ".c{stroke:#57606a}.c.bad{stroke:#9a3a06}.c.good{stroke:#0a567e}.c.warn{stroke:#7a5600}"
			    ".p{fill:#57606a}.p.bad{fill:#9a3a06}.p.good{fill:#0a567e}.p.warn{fill:#7a5600}";

struct drawing {
	struct buf *out;
	const struct comparison *c;
	struct axis axis;
	bool flops; /* values are rates, else ms */
	struct unit unit;
	int y; /* upper edge of the next row */
};

static bool is_same_group(const struct comparison_cell *a, const struct comparison_cell *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->direction, b->direction) == 0;
}

/* Return whether no earlier cell has the same group: a suite is ordered by case, a picture by direction. */
static bool is_first_of_group(const struct comparison *c, int n)
{
	for (int i = 0; i < n; i++)
		if (is_same_group(&c->cell[i], &c->cell[n]))
			return false;
	return true;
}

static int shown(const struct comparison *c)
{
	return c->n_cells < SHOWN_MAX ? c->n_cells : SHOWN_MAX;
}

static int height_of(const struct comparison *c)
{
	int height = TOP + BOTTOM + ROW * shown(c);
	for (int i = 0; i < shown(c); i++)
		if (is_first_of_group(c, i))
			height += HEADING;
	return height + (c->n_cells > SHOWN_MAX ? ROW : 0);
}

static double axis_x(const struct drawing *d, double pct)
{
	return AXIS_X + AXIS_WIDTH * axis_at(&d->axis, pct);
}

static void begin_text(const struct drawing *d, const char *class, int x, int y)
{
	emit_rawf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
}

static void head(const struct drawing *d)
{
	const struct comparison *c = d->c;
	const char *label = verdict_label(c->kind, c->verdict);
	emit_format(d->out, "<text class=\"h %-s\" x=\"%d\" y=\"28\" font-size=\"15\">%-s %s{name}", layout_tone(label), EDGE,
		layout_sign(label), label);
	if (c->regressions)
		emit_rawf(d->out, " in %d of %d cells", c->regressions, c->n_cells);
	emit_raw(d->out, "</text>");
	begin_text(d, "s", EDGE, 48);
	emit_format(d->out, "%-.10s against %-.10s%s{? on *}%s{?, suite *}, %d runs%.0f{?, * s of device time}</text>",
		c->target.commit, c->base.commit, c->environment.name, c->suite, c->runs, c->gpu_s);
}

static void ticks(const struct drawing *d, int y)
{
	double tick[AXIS_TICKS_MAX];
	int n = axis_ticks(&d->axis, TICKS_SEPARATE, tick);
	for (int i = 0; i < n; i++) {
		emit_rawf(d->out, "<text class=\"s m\" x=\"%.1f\" y=\"%d\">", axis_x(d, tick[i]), y);
		emit_rawf(d->out, "%s%g%s</text>",
			tick[i] < 0   ? "\u2212"
			: tick[i] > 0 ? "+"
				      : "",
			fabs(tick[i]), tick[i] == 0 ? " %" : "");
	}
}

static void draw_group_head(struct drawing *d, const struct comparison_cell *cell, bool is_first)
{
	int y = d->y + HEADING - 10;
	begin_text(d, "h", EDGE, y);
	comparison_group(d->out, cell->group);
	emit_format(d->out, "%s{? *}</text>", cell->direction);
	if (is_first) {
		const char *unit = d->flops ? d->unit.name : "ms";
		emit_format(d->out,
			"<text class=\"s n\" x=\"%d\" y=\"%d\">%-s:</text><text class=\"s n\" x=\"%d\" y=\"%d\">base</text>"
			"<text class=\"s n\" x=\"%d\" y=\"%d\">target</text>",
			UNIT_X, y, unit, BASE_X, y, TARGET_X, y);
		ticks(d, y);
		emit_rawf(d->out, "<text class=\"s n\" x=\"%d\" y=\"%d\">change</text>", CHANGE_X, y);
	}
	d->y += HEADING;
}

/* Write the name of the case without the text of its heading, or the key, cut at the end of the column. */
static void put_case_name(struct buf *out, const struct comparison_cell *cell)
{
	char name[NAME_MAX_BYTES + 1];
	size_t len = utf8_cut(cell->key, strlen(cell->key), NAME_MAX_BYTES);
	if (*cell->title && cell->size) {
		emit_format(out, "%s, %lld", cell->title, (long long)cell->size);
		return;
	}
	memcpy(name, cell->key, len);
	name[len] = '\0';
	emit_format(out, "%s%-s", name, cell->key[len] ? "\u2026" : "");
}

static void figure(const struct drawing *d, int x, double tflops, double ms)
{
	begin_text(d, "n", x, d->y + 15);
	if (d->flops)
		layout_rate(d->out, d->unit, tflops);
	else
		layout_ms(d->out, ms);
	emit_raw(d->out, "</text>");
}

static void strip(const struct drawing *d, const struct comparison_cell *cell, const char *tone)
{
	int top = d->y + 2, bottom = d->y + ROW - 2, middle = d->y + ROW / 2;
	double x = axis_x(d, cell->change_pct);
	emit_rawf(d->out, "<path class=\"z\" d=\"M%.1f %dV%d\"/>", axis_x(d, 0), d->y, d->y + ROW);
	if (isfinite(cell->threshold_pct))
		emit_rawf(d->out, "<path class=\"t\" d=\"M%.1f %dV%dM%.1f %dV%d\"/>", axis_x(d, -cell->threshold_pct), top,
			bottom, axis_x(d, cell->threshold_pct), top, bottom);
	if (isfinite(cell->ci_low_pct) && isfinite(cell->ci_high_pct))
		emit_rawf(d->out, "<path class=\"c %s\" d=\"M%.1f %dH%.1f\"/>", tone, axis_x(d, cell->ci_low_pct), middle,
			axis_x(d, cell->ci_high_pct) + 0.1);
	if (!isfinite(cell->change_pct))
		return;
	emit_rawf(d->out, "<circle class=\"p %s\" cx=\"%.1f\" cy=\"%d\" r=\"3\"/>", tone, x, middle);
}

static void draw_row(struct drawing *d, const struct comparison_cell *cell)
{
	const char *label = verdict_label(d->c->kind, cell->verdict), *tone = layout_tone(label);
	emit_format(d->out, "<g><title>%s</title>", cell->key);
	begin_text(d, "", EDGE, d->y + 15);
	put_case_name(d->out, cell);
	emit_raw(d->out, "</text>");
	figure(d, BASE_X, cell->base_tflops, cell->base_ms);
	figure(d, TARGET_X, cell->target_tflops, cell->target_ms);
	strip(d, cell, tone);
	begin_text(d, "n", CHANGE_X, d->y + 15);
	if (isfinite(cell->change_pct))
		emit_format(d->out, "%.2f{signed} %%", cell->change_pct);
	else
		emit_raw(d->out, "\u2013");
	emit_raw(d->out, "</text>");
	begin_text(d, tone, VERDICT_X, d->y + 15);
	emit_format(d->out, "%-s %s{name}</text></g>\n", layout_sign(label), label);
	d->y += ROW;
}

void comparison_picture(struct buf *out, struct comparison *c)
{
	double threshold_pct;
	struct drawing d = { out, c, comparison_axis(c, &threshold_pct), comparison_has_flops(c), comparison_unit(c), TOP - 18 };
	int height = height_of(c);
	emit_format(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"comparison: %s{name}\">"
		"<style>%-s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>",
		WIDTH, height, WIDTH, height, verdict_label(c->kind, c->verdict), STYLE, WIDTH, height);
	head(&d);
	buf_putc(out, '\n');
	for (int i = 0; i < shown(c); i++) {
		if (!is_first_of_group(c, i))
			continue;
		draw_group_head(&d, &c->cell[i], i == 0);
		for (int k = i; k < shown(c); k++)
			if (is_same_group(&c->cell[i], &c->cell[k]))
				draw_row(&d, &c->cell[k]);
	}
	if (c->n_cells > SHOWN_MAX) {
		begin_text(&d, "s", EDGE, d.y + 15);
		emit_rawf(out, "%d more cells</text>", c->n_cells - SHOWN_MAX);
		d.y += ROW;
	}
	begin_text(&d, "s", EDGE, d.y + 18);
	emit_raw(out, "change of speed, the trimmed mean of paired ratios, with its 95 % interval; dashed: the "
		      "threshold</text></svg>\n");
}
