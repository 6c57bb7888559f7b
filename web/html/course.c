/* course.c - two bands above each other, clock and power, over the runs in the order they ran, each as wide as any other. */
#include "web/html/internal.h"

enum { WIDTH = 540, LEFT = 84, RIGHT = 12, TOP = 8, BAND = 56, GAP = 14, HEIGHT = TOP + 2 * BAND + GAP + 20 };
enum { STEPS = 8 }; /* that a run is drawn with, however many calls it has */

struct band {
	double low, high;
	int top;
	const char *unit;
};

static struct band band_of(int top, const char *unit)
{
	return (struct band){ .low = INFINITY, .high = -INFINITY, .top = top, .unit = unit };
}

static void cover(struct band *b, double v)
{
	b->low = fmin(b->low, v);
	b->high = fmax(b->high, v);
}

/* What stands still is drawn still: 2 % is the least that the height spans. */
static void settle(struct band *b)
{
	double middle = (b->low + b->high) / 2, half = fmax((b->high - b->low) / 2 * 1.1, fabs(middle) * 0.01 + 1e-9);
	b->low = middle - half;
	b->high = middle + half;
}

static double y_of(const struct band *b, double v)
{
	return b->top + BAND * (b->high - v) / (b->high - b->low);
}

static double x_of(const struct store_runs *l, int process_run, double share)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (process_run + share) / l->n;
}

/* Mean clock of one step of a run; NAN where none of its calls has one. Units: MHz. */
static double step_mhz(const struct run_pairs *p, const float *mhz, int step)
{
	double sum = 0;
	int n = 0;
	for (int k = step * p->n / STEPS; mhz && k < (step + 1) * p->n / STEPS; k++) {
		if (mhz[k] > 0) {
			sum += (double)mhz[k];
			n++;
		}
	}
	return n ? sum / n : NAN;
}

static struct band clock_band(const struct store_runs *l)
{
	struct band b = band_of(TOP, "MHz");
	for (int i = 0; i < l->n; i++) {
		for (int step = 0; step < STEPS; step++) {
			cover(&b, step_mhz(&l->pairs[i], l->pairs[i].base_mhz, step));
			cover(&b, step_mhz(&l->pairs[i], l->pairs[i].target_mhz, step));
		}
	}
	return b;
}

static struct band power_band(const struct store_runs *l)
{
	struct band b = band_of(TOP + BAND + GAP, "W");
	for (int i = 0; i < l->n; i++)
		if (l->device_check[i].power_w >= 0)
			cover(&b, l->device_check[i].power_w);
	return b;
}

static void frame(struct buf *out, const struct band *b)
{
	emit_rawf(
		out, "<path class=z d=\"M%d %dH%dM%d %dH%d\"/>", LEFT, b->top, WIDTH - RIGHT, LEFT, b->top + BAND, WIDTH - RIGHT);
	emit_rawf(out, "<text class=tick x=%d y=%d>%.0f %s</text><text class=tick x=%d y=%d>%.0f</text>", LEFT - 6, b->top + 10,
		b->high, b->unit, LEFT - 6, b->top + BAND, b->low);
}

static void clocks(struct buf *out, const struct store_runs *l, const struct band *b, bool target)
{
	emit_rawf(out, "<path class=\"line l%d\" d=\"", target);
	for (int i = 0; i < l->n; i++) {
		bool pen_up = true;
		for (int step = 0; step < STEPS; step++) {
			double mhz = step_mhz(&l->pairs[i], target ? l->pairs[i].target_mhz : l->pairs[i].base_mhz, step);
			if (isfinite(mhz))
				emit_rawf(out, "%c%.0f %.0f", pen_up ? 'M' : 'L', x_of(l, i, (step + 0.5) / STEPS), y_of(b, mhz));
			pen_up = !isfinite(mhz);
		}
	}
	emit_raw(out, "\"/>");
}

static void powers(struct buf *out, const struct store_runs *l, const struct band *b)
{
	for (int i = 0; i < l->n; i++) {
		const struct msg_device_check *g = &l->device_check[i];
		if (g->power_w < 0)
			continue;
		emit_rawf(out, "<path class=power d=\"M%.0f %.1fH%.0f\"><title>run %d: %.0f W", x_of(l, i, 0.06),
			y_of(b, g->power_w), x_of(l, i, 0.94), i + 1, g->power_w);
		if (g->temp_c >= 0)
			emit_rawf(out, ", %.0f \u00b0C", g->temp_c);
		emit_raw(out, "</title></path>");
	}
}

void course_draw(struct buf *out, const struct store_runs *l)
{
	struct band clock = clock_band(l), power = power_band(l);
	bool has_clock = isfinite(clock.low), has_power = isfinite(power.low);
	if (l->n == 0 || (!has_clock && !has_power))
		return;
	emit_rawf(out,
		"<figure><figcaption>%s over the runs%s</figcaption><svg class=\"dots course\" viewBox=\"0 0 %d %d\" role=img "
		"aria-label=\"",
		has_clock && has_power ? "Clock and power"
		: has_clock            ? "Clock"
				       : "Power",
		has_clock ? "; base drawn through, target dashed" : "", WIDTH, HEIGHT);
	if (has_clock)
		emit_rawf(out, "clock from %.0f to %.0f MHz", clock.low, clock.high);
	if (has_power)
		emit_rawf(out, "%spower from %.0f to %.0f W", has_clock ? ", " : "", power.low, power.high);
	emit_rawf(out, " over %d runs\">", l->n);
	if (has_clock) {
		settle(&clock);
		frame(out, &clock);
		clocks(out, l, &clock, false);
		clocks(out, l, &clock, true);
	}
	if (has_power) {
		settle(&power);
		frame(out, &power);
		powers(out, l, &power);
	}
	emit_rawf(out, "<text x=%d y=%d>runs in the order they ran</text></svg></figure>\n", LEFT, HEIGHT - 4);
}
