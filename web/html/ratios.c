#include "web/html/html.h"

#include <stdlib.h>

enum { WIDTH = 540, LEFT = 24, RIGHT = 24, TOP = 20, BARS = 80, HEIGHT = TOP + BARS + 22, BINS = 48, PAIRS_MIN = 12 };
enum { PAIRS_MAX = STATS_RUNS_MAX * STATS_PAIRS_MAX };

#define CUT                                                                                                                      \
	0.005 /* of the pairs: what lies beyond at either end is counted in the last bar, so that one slow call leaves room for the rest */

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

/* Shape: pct[PAIRS_MAX]. How many. */
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

static double x_of(const struct axis *axis, double pct)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * axis_at(axis, pct);
}

/* One outline of all bars, each as high as its share of the fullest. */
static void bars(struct buf *out, const struct axis *axis, const float *pct, int n)
{
	int count[BINS] = { 0 }, most = 1;
	for (int i = 0; i < n; i++) {
		int bin = (int)(BINS * axis_at(axis, (double)pct[i]));
		bin = bin < BINS ? bin : BINS - 1;
		if (++count[bin] > most)
			most = count[bin];
	}
	double width = (double)(WIDTH - LEFT - RIGHT) / BINS;
	int before = 0;
	emit_rawf(out, "<path class=bars d=\"M%d %d", LEFT, TOP + BARS);
	for (int i = 0; i <= BINS; i++) {
		int now = i < BINS ? count[i] : 0;
		if (now != before)
			emit_rawf(out, "H%.0fV%.0f", LEFT + i * width, TOP + BARS - (double)BARS * now / most);
		before = now;
	}
	emit_raw(out, "\"/>");
}

static void ticks(struct buf *out, const struct axis *axis)
{
	double tick[AXIS_TICKS_MAX];
	int n = axis_ticks(axis, 0.12, tick);
	for (int i = 0; i < n; i++)
		emit_rawf(out, "<text x=%.1f y=%d text-anchor=middle>%s%.4g %%</text>", x_of(axis, tick[i]), HEIGHT - 4,
			tick[i] < 0   ? "\u2212"
			: tick[i] > 0 ? "+"
				      : "",
			fabs(tick[i]));
}

static void draw(struct buf *out, const struct axis *axis, const struct ratios_about *about, const float *pct, int n)
{
	emit_rawf(out,
		"<figure><figcaption>%d pairs by their change; above them the change of all with its interval</figcaption>"
		"<svg class=dots viewBox=\"0 0 %d %d\" role=img aria-label=\"distribution of the change of %d pairs: half of them "
		"between %.2f and %.2f percent\">",
		n, WIDTH, HEIGHT, n, (double)pct[n / 4], (double)pct[3 * n / 4]);
	emit_rawf(out, "<path class=z d=\"M%.1f %dV%d\"/>", x_of(axis, 0), TOP - 6, TOP + BARS);
	if (isfinite(about->threshold_pct))
		emit_rawf(out, "<path class=t d=\"M%.1f %dV%d\"/>", x_of(axis, -about->threshold_pct), TOP - 6, TOP + BARS);
	bars(out, axis, pct, n);
	if (isfinite(about->low_pct) && isfinite(about->high_pct))
		emit_rawf(out, "<path class=range d=\"M%.1f %dH%.1f\"/>", x_of(axis, about->low_pct), TOP - 10,
			x_of(axis, about->high_pct));
	if (isfinite(about->change_pct))
		emit_rawf(out, "<circle cx=%.1f cy=%d r=4.5 />", x_of(axis, about->change_pct), TOP - 10);
	ticks(out, axis);
	emit_raw(out, "</svg></figure>\n");
}

void ratios_draw(struct buf *out, const struct store_runs *l, const struct ratios_about *about)
{
	float *pct = l->raw ? malloc(PAIRS_MAX * sizeof *pct) : NULL;
	int n = pct ? changes(l, pct) : 0;
	if (n >= PAIRS_MIN) {
		struct axis axis = axis_none();
		qsort(pct, (size_t)n, sizeof *pct, compare);
		axis_cover(&axis, (double)pct[(int)(CUT * n)]);
		axis_cover(&axis, (double)pct[n - 1 - (int)(CUT * n)]);
		axis_cover(&axis, about->low_pct);
		axis_cover(&axis, about->high_pct);
		axis_settle(&axis, about->threshold_pct);
		draw(out, &axis, about, pct, n);
	}
	free(pct);
}
