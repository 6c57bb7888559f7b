#include "web/html/internal.h"

#include <math.h>

/*
 * ---- device_state ----
 * Two bands, clock above power, over the runs in their order, all of the same width.
 */

enum { WIDTH = 540, LEFT = 84, RIGHT = 12, TOP = 8, BAND = 56, GAP = 14, HEIGHT = TOP + 2 * BAND + GAP + 20 };
enum { STEPS = 8 }; /* steps a run is drawn with, for any number of calls */

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

/* Extend a band to a height of at least 2 %, so that a constant value is drawn flat. */
static void pad_band(struct band *b)
{
	double middle = (b->low + b->high) / 2, half = fmax((b->high - b->low) / 2 * 1.1, fabs(middle) * 0.01 + 1e-9);
	b->low = middle - half;
	b->high = middle + half;
}

static double y_of(const struct band *b, double v)
{
	return b->top + BAND * (b->high - v) / (b->high - b->low);
}

static double x_of(const struct store_runs *l, int run, double share)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (run + share) / l->n;
}

/* Mean clock of one step of a run; NAN where no call has one. Units: MHz. */
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
	emit_format(out,
		"<path class=z d=\"M%d %dH%dM%d %dH%d\"/><text class=tick x=%d y=%d>%.0f %-s</text>"
		"<text class=tick x=%d y=%d>%.0f</text>",
		LEFT, b->top, WIDTH - RIGHT, LEFT, b->top + BAND, WIDTH - RIGHT, LEFT - 6, b->top + 10, b->high, b->unit,
		LEFT - 6, b->top + BAND, b->low);
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

void device_state_draw(struct buf *out, const struct store_runs *l)
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
		has_clock ? "; base solid, target dashed" : "", WIDTH, HEIGHT);
	if (has_clock)
		emit_rawf(out, "clock from %.0f to %.0f MHz", clock.low, clock.high);
	if (has_power)
		emit_rawf(out, "%spower from %.0f to %.0f W", has_clock ? ", " : "", power.low, power.high);
	emit_rawf(out, " over %d runs\">", l->n);
	if (has_clock) {
		pad_band(&clock);
		frame(out, &clock);
		clocks(out, l, &clock, false);
		clocks(out, l, &clock, true);
	}
	if (has_power) {
		pad_band(&power);
		frame(out, &power);
		powers(out, l, &power);
	}
	emit_rawf(out, "<text x=%d y=%d>runs in the order they ran</text></svg></figure>\n", LEFT, HEIGHT - 4);
}

/* ---- ratios ---- */

enum {
	RATIOS_WIDTH = 540,
	RATIOS_LEFT = 24,
	RATIOS_RIGHT = 24,
	RATIOS_TOP = 20,
	BARS = 80,
	RATIOS_HEIGHT = RATIOS_TOP + BARS + 22,
	BINS = 48,
	PAIRS_MIN = 12
};
enum { PAIRS_MAX = STATS_RUNS_MAX * STATS_PAIRS_MAX };

#define CUT                                                                                                                      \
	0.005 /* share of pairs at either end that the outermost bar counts, so that one slow call does not compress the rest */

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

/* Shape: pct[PAIRS_MAX]. Returns how many. */
static int changes(const struct store_runs *l, float *pct)
{
	int n = 0;
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < l->pairs[i].n && n < PAIRS_MAX; k++) {
			float base = l->pairs[i].base_ms[k], target = l->pairs[i].target_ms[k];
			if (base > 0 && target > 0)
				pct[n++] = 100 * (base / target - 1);
		}
	return n;
}

static double ratios_x_of(const struct axis *axis, double pct)
{
	return RATIOS_LEFT + (RATIOS_WIDTH - RATIOS_LEFT - RATIOS_RIGHT) * axis_at(axis, pct);
}

/* One outline of all bars, each as high as its share of the highest. */
static void bars(struct buf *out, const struct axis *axis, const float *pct, int n)
{
	int count[BINS] = { 0 }, most = 1;
	for (int i = 0; i < n; i++) {
		int bin = (int)(BINS * axis_at(axis, (double)pct[i]));
		bin = bin < BINS ? bin : BINS - 1;
		if (++count[bin] > most)
			most = count[bin];
	}
	double width = (double)(RATIOS_WIDTH - RATIOS_LEFT - RATIOS_RIGHT) / BINS;
	int before = 0;
	emit_rawf(out, "<path class=bars d=\"M%d %d", RATIOS_LEFT, RATIOS_TOP + BARS);
	for (int i = 0; i <= BINS; i++) {
		int now = i < BINS ? count[i] : 0;
		if (now != before)
			emit_rawf(out, "H%.0fV%.0f", RATIOS_LEFT + i * width, RATIOS_TOP + BARS - (double)BARS * now / most);
		before = now;
	}
	emit_raw(out, "\"/>");
}

static void ticks(struct buf *out, const struct axis *axis)
{
	double tick[AXIS_TICKS_MAX];
	int n = axis_ticks(axis, 0.12, tick);
	for (int i = 0; i < n; i++)
		emit_rawf(out, "<text x=%.1f y=%d text-anchor=middle>%s%.4g %%</text>", ratios_x_of(axis, tick[i]),
			RATIOS_HEIGHT - 4,
			tick[i] < 0   ? "\u2212"
			: tick[i] > 0 ? "+"
				      : "",
			fabs(tick[i]));
}

static void draw(struct buf *out, const struct axis *axis, const struct ratios_about *about, const float *pct, int n)
{
	emit_format(out,
		"<figure><figcaption>%d pairs by their change; above them the change of all pairs with its interval"
		"</figcaption>"
		"<svg class=dots viewBox=\"0 0 %d %d\" role=img aria-label=\"distribution of the change of %d pairs: half of them between %.2f and %.2f percent\">"
		"<path class=z d=\"M%.1f %dV%d\"/>",
		n, RATIOS_WIDTH, RATIOS_HEIGHT, n, (double)pct[n / 4], (double)pct[3 * n / 4], ratios_x_of(axis, 0),
		RATIOS_TOP - 6, RATIOS_TOP + BARS);
	if (isfinite(about->threshold_pct))
		emit_rawf(out, "<path class=t d=\"M%.1f %dV%d\"/>", ratios_x_of(axis, -about->threshold_pct), RATIOS_TOP - 6,
			RATIOS_TOP + BARS);
	bars(out, axis, pct, n);
	if (isfinite(about->low_pct) && isfinite(about->high_pct))
		emit_rawf(out, "<path class=range d=\"M%.1f %dH%.1f\"/>", ratios_x_of(axis, about->low_pct), RATIOS_TOP - 10,
			ratios_x_of(axis, about->high_pct));
	if (isfinite(about->change_pct))
		emit_rawf(out, "<circle cx=%.1f cy=%d r=4.5 />", ratios_x_of(axis, about->change_pct), RATIOS_TOP - 10);
	ticks(out, axis);
	emit_raw(out, "</svg></figure>\n");
}

void ratios_draw(struct buf *out, const struct store_runs *l, const struct ratios_about *about)
{
	if (!l->raw)
		return;
	float *pct = mem_alloc(PAIRS_MAX * sizeof *pct);
	int n = changes(l, pct);
	if (n >= PAIRS_MIN) {
		struct axis axis = axis_empty();
		qsort(pct, (size_t)n, sizeof *pct, compare);
		axis_cover(&axis, (double)pct[(int)(CUT * n)]);
		axis_cover(&axis, (double)pct[n - 1 - (int)(CUT * n)]);
		axis_cover(&axis, about->low_pct);
		axis_cover(&axis, about->high_pct);
		axis_finish(&axis, about->threshold_pct);
		draw(out, &axis, about, pct, n);
	}
	free(pct);
}

/*
 * ---- strip ----
 * Time over the median of the call's own side and run, so that drift between runs does not spread the dots.
 */

enum { STRIP_WIDTH = 540, STRIP_HEIGHT = 100, STRIP_LEFT = 58, STRIP_RIGHT = 12, LANE = 34, STRIP_TOP = 8 };

#define LOW  0.90 /* multiples of the median; dots beyond these limits are drawn at them */
#define HIGH 1.40
#define SLOW 1.04

static double strip_x_of(double ratio)
{
	return STRIP_LEFT + (STRIP_WIDTH - STRIP_LEFT - STRIP_RIGHT) * (fmin(fmax(ratio, LOW), HIGH) - LOW) / (HIGH - LOW);
}

static char *put_position(char *at, char before, long v)
{
	*at++ = before;
	for (long unit = v < 10 ? 1 : v < 100 ? 10 : 100; unit; unit /= 10)
		*at++ = (char)('0' + v / unit % 10);
	return at;
}

/*
 * Both coordinates lie within the picture, so they are below a thousand. With emit_rawf a thousand dots would cost a third of the
 * rest of the page.
 */
static void dot(struct buf *out, long x, long y)
{
	char *begin = buf_reserve(out, sizeof "M123 123h0");
	if (!begin)
		return;
	char *at = put_position(put_position(begin, 'M', x), ' ', y);
	*at++ = 'h';
	*at++ = '0';
	buf_grown(out, (size_t)(at - begin));
}

/*
 * One path for all dots of a kind, since a thousand calls have to fit into the page. Shape: median[l->n], of this side of each
 * run.
 */
static void dots(struct buf *out, const struct store_runs *l, const double *median, bool target, bool slow)
{
	int position = 0; /* the call's number: its position in time, by which dots are spread */
	emit_rawf(out, "<path class=\"%s\" d=\"", slow ? "calls slow" : "calls");
	for (int i = 0; i < l->n; i++) {
		const float *ms = target ? l->pairs[i].target_ms : l->pairs[i].base_ms;
		for (int k = 0; k < l->pairs[i].n; k++, position++) {
			double ratio = (double)ms[k] / median[i];
			if ((ratio > SLOW) == slow)
				dot(out, lrint(strip_x_of(ratio)), STRIP_TOP + target * LANE + 4 + position * 7 % 24);
		}
	}
	emit_raw(out, "\"/>");
}

static void strip_frame(struct buf *out)
{
	static const char *const side[] = { "base", "target" };
	emit_rawf(out,
		"<figure><figcaption>Every call over its run's median; a call right of the line counts as slow</figcaption>"
		"<svg class=dots viewBox=\"0 0 %d %d\" role=img aria-label=\"every timed call of base and target\">",
		STRIP_WIDTH, STRIP_HEIGHT);
	for (int i = 0; i < 2; i++)
		emit_rawf(out, "<text class=tick x=%d y=%d>%s</text>", STRIP_LEFT - 8, STRIP_TOP + i * LANE + 20, side[i]);
	for (int percent = 90; percent < 140; percent += 10)
		emit_rawf(out, "<text class=tick x=%.1f y=%d>%d %%</text>", strip_x_of(percent / 100.0) + 14, STRIP_HEIGHT - 4,
			percent);
	emit_rawf(out, "<path class=grid d=\"M%.1f %dV%d\"/>", strip_x_of(SLOW), STRIP_TOP, STRIP_TOP + 2 * LANE);
}

void strip_draw(struct buf *out, const struct store_runs *l)
{
	double median[2][STATS_RUNS_MAX];
	if (l->n == 0 || !l->raw)
		return;
	for (int i = 0; i < l->n; i++) {
		median[0][i] = stats_median(l->pairs[i].base_ms, l->pairs[i].n);
		median[1][i] = stats_median(l->pairs[i].target_ms, l->pairs[i].n);
	}
	strip_frame(out);
	for (int kind = 0; kind < 4; kind++)
		dots(out, l, median[kind & 1], kind & 1, kind & 2);
	emit_raw(out, "</svg></figure>\n");
}

/* ---- calls ---- */

int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err)
{
	struct store_runs l;
	struct fw_err lost = { 0 };
	int result = store_cell_runs(db, id, series, &l, &lost);
	if (result == 0) {
		ratios_draw(out, &l, about);
		strip_draw(out, &l);
		device_state_draw(out, &l);
	}
	buf_fini(&l.values);
	/* the rest of the page does not need them */
	if (result != 0 && (lost.code == ERR_NOT_FOUND || lost.code == ERR_INVALID)) {
		emit_format(out, "<p><small>The single calls of this cell cannot be shown: %s</small></p>\n", lost.text);
		return 0;
	}
	return result == 0 ? 0 : err_set(err, lost.code, "%s", lost.text);
}
