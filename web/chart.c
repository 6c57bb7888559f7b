#include "web/chart.h"

#include <math.h>

#include "web/emit.h"

enum { WIDTH = 960, HEIGHT = 280, LEFT = 64, RIGHT = 16, TOP = 16, BOTTOM = 28 };

/* A step of 1, 2 or 5 times a power of ten that cuts `span` into about four. */
static double tick_step(double span)
{
	double raw = span / 4, power = pow(10, floor(log10(raw)));
	double lead = raw / power;
	return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static double x_of(int i, int n)
{
	return n < 2 ? (LEFT + WIDTH - RIGHT) / 2.0 : LEFT + (double)(WIDTH - LEFT - RIGHT) * i / (n - 1);
}

static double y_of(double v, double low, double high)
{
	return TOP + (HEIGHT - TOP - BOTTOM) * (high - v) / (high - low);
}

void chart_line(struct buf *out, const struct chart_point *point, int n, const char *unit, const char *summary)
{
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < n; i++) {
		if (isfinite(point[i].y)) {
			low = fmin(low, point[i].y);
			high = fmax(high, point[i].y);
		}
	}
	emit_raw(out, "<figure><figcaption>");
	emit_text(out, summary);
	emit_raw(out, "</figcaption>");
	if (!isfinite(low)) {
		emit_raw(out, "<p>No timed points yet.</p></figure>\n");
		return;
	}
	/* a flat series keeps a visible band of 1 % instead of magnifying its rounding */
	double pad = fmax((high - low) * 0.15, fabs(high) * 0.005 + 1e-12);
	low -= pad;
	high += pad;
	emit_rawf(out, "<svg class=chart viewBox=\"0 0 %d %d\" role=img aria-label=\"", WIDTH, HEIGHT);
	emit_attribute(out, summary);
	emit_raw(out, "\">");
	double step = tick_step(high - low);
	int digits = step >= 1 ? 0 : (int)fmin(9, ceil(-log10(step)));
	for (double t = ceil(low / step) * step; t <= high; t += step)
		emit_rawf(out, "<path class=grid d=\"M%d %.1fH%d\"/><text class=tick x=%d y=%.1f>%.*f</text>", LEFT,
			y_of(t, low, high), WIDTH - RIGHT, LEFT - 8, y_of(t, low, high) + 4, digits, t);
	emit_raw(out, "<path class=line d=\"");
	bool pen_up = true;
	for (int i = 0; i < n; i++) {
		if (isfinite(point[i].y))
			emit_rawf(out, "%c%.1f %.1f", pen_up ? 'M' : 'L', x_of(i, n), y_of(point[i].y, low, high));
		pen_up = !isfinite(point[i].y);
	}
	emit_raw(out, "\"/>");
	for (int i = 0; i < n; i++) {
		if (!isfinite(point[i].y))
			continue;
		double x = x_of(i, n), y = y_of(point[i].y, low, high);
		if (point[i].is_loss)
			emit_rawf(out, "<path class=loss d=\"M%.1f %.1fl7 -11h-14z\"><title>", x, y + 5);
		else
			emit_rawf(out, "<circle class=dot cx=%.1f cy=%.1f r=3.5><title>", x, y);
		emit_text(out, point[i].label);
		emit_raw(out, point[i].is_loss ? "</title></path>" : "</title></circle>");
	}
	emit_rawf(out, "<text class=axis x=%d y=%d>", LEFT, HEIGHT - 8);
	emit_text(out, unit);
	emit_raw(out, ", oldest to newest; the axis does not start at 0</text></svg></figure>\n");
}
