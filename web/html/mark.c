#include "web/html/html.h"

#include <math.h>

enum { SPARK_WIDTH = 110, SPARK_HEIGHT = 26, SPARK_EDGE = 4 };

void mark_spark(struct buf *out, const double *y, const bool *is_slower, int n, const char *label)
{
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < n; i++) {
		if (isfinite(y[i])) {
			low = fmin(low, y[i]);
			high = fmax(high, y[i]);
		}
	}
	if (!isfinite(low)) {
		emit_raw(out, "<span class=dim>\u2013</span>");
		return;
	}
	/* the height spans at least 2 %, so that a constant series is drawn flat */
	double middle = (low + high) / 2, half = fmax((high - low) / 2, fabs(middle) * 0.01 + 1e-12);
	emit_format(out, "<svg class=spark viewBox=\"0 0 %d %d\" role=img aria-label=\"%s\"><path d=\"", SPARK_WIDTH,
		SPARK_HEIGHT, label);
	bool pen_up = true;
	double step = n > 1 ? (SPARK_WIDTH - 2.0 * SPARK_EDGE) / (n - 1) : 0;
	double last_x = 0, last_y = 0;
	struct buf marks;
	buf_init(&marks, 1 << 16);
	for (int i = 0; i < n; i++) {
		double x = SPARK_EDGE + i * step;
		double at = SPARK_HEIGHT / 2.0 - (y[i] - middle) / half * (SPARK_HEIGHT / 2.0 - SPARK_EDGE);
		if (isfinite(y[i])) {
			emit_rawf(out, "%c%.0f %.1f", pen_up ? 'M' : 'L', x, at);
			last_x = x;
			last_y = at;
			if (is_slower[i])
				emit_rawf(&marks, "<path class=loss d=\"M%.0f %.1fl3.5-6h-7z\"/>", x, at + 4);
		}
		pen_up = !isfinite(y[i]);
	}
	emit_rawf(out, "\"/><circle cx=%.0f cy=%.1f r=2.5 />", last_x, last_y);
	buf_append(out, marks.data, marks.len);
	buf_fini(&marks);
	emit_raw(out, "</svg>");
}

/* ---- runs --------------------------------------------------------------------------------------------------------- */

enum { DOTS_WIDTH = 540, DOTS_HEIGHT = 96, DOTS_LEFT = 58, DOTS_RIGHT = 12, DOTS_TOP = 10, DOTS_BOTTOM = 8 };

static double dots_y(double pct, double low, double high)
{
	return DOTS_TOP + (DOTS_HEIGHT - DOTS_TOP - DOTS_BOTTOM) * (high - pct) / (high - low);
}

static void dots_level(struct buf *out, const char *class, double pct, double low, double high)
{
	if (pct <= low || pct >= high)
		return;
	emit_rawf(out, "<path class=%s d=\"M%d %.1fH%d\"/><text x=%d y=%.1f text-anchor=end>%s%.4g %%</text>", class, DOTS_LEFT,
		dots_y(pct, low, high), DOTS_WIDTH - DOTS_RIGHT, DOTS_LEFT - 6, dots_y(pct, low, high) + 4,
		pct < 0 ? "\u2212" : "", fabs(pct));
}

void mark_runs(struct buf *out, const struct mark_run *run, int n, double threshold_pct, const char *label)
{
	double low = isfinite(threshold_pct) ? -threshold_pct : 0, high = 0;
	for (int i = 0; i < n; i++) {
		if (isfinite(run[i].change_pct)) {
			low = fmin(low, fmin(run[i].change_pct, run[i].low_pct));
			high = fmax(high, fmax(run[i].change_pct, run[i].high_pct));
		}
	}
	double pad = (high - low) * 0.12 + 0.05;
	low -= pad;
	high += pad;
	emit_format(out, "<svg class=dots viewBox=\"0 0 %d %d\" role=img aria-label=\"%s\">", DOTS_WIDTH, DOTS_HEIGHT, label);
	dots_level(out, "z", 0, low, high);
	if (isfinite(threshold_pct))
		dots_level(out, "t", -threshold_pct, low, high);
	double step = (double)(DOTS_WIDTH - DOTS_LEFT - DOTS_RIGHT) / (n + 1);
	for (int i = 0; i < n; i++) {
		if (!isfinite(run[i].change_pct))
			continue;
		if (isfinite(run[i].low_pct) && isfinite(run[i].high_pct))
			emit_rawf(out, "<path class=range d=\"M%.1f %.1fV%.1f\"/>", DOTS_LEFT + step * (i + 1),
				dots_y(run[i].high_pct, low, high), dots_y(run[i].low_pct, low, high));
		emit_format(out, "<circle%-s cx=%.1f cy=%.1f r=4.5><title>%s</title></circle>",
			run[i].set == 2 ? " class=s2" : "", DOTS_LEFT + step * (i + 1), dots_y(run[i].change_pct, low, high),
			run[i].label);
	}
	emit_raw(out, "</svg><p><small>Runs in the order they ran, each with the interval of its own pairs; filled: first set, "
		      "hollow: confirming set</small></p>");
}
