/* strip.c - time over the median of the call's own side and run, so that drift between runs does not spread the dots. */
#include "web/html/internal.h"

enum { WIDTH = 540, HEIGHT = 100, LEFT = 58, RIGHT = 12, LANE = 34, TOP = 8 };

#define LOW  0.90 /* of the median; what lies beyond the ends is drawn at them */
#define HIGH 1.40
#define SLOW 1.04

static double x_of(double ratio)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (fmin(fmax(ratio, LOW), HIGH) - LOW) / (HIGH - LOW);
}

static char *put_position(char *at, char before, long v)
{
	*at++ = before;
	for (long unit = v < 10 ? 1 : v < 100 ? 10 : 100; unit; unit /= 10)
		*at++ = (char)('0' + v / unit % 10);
	return at;
}

/* Both lie within the picture, so below a thousand. With emit_rawf a thousand of these would cost a third of the rest of the page. */
static void dot(struct buf *out, long x, long y)
{
	char *begin = buf_room(out, sizeof "M123 123h0");
	if (!begin)
		return;
	char *at = put_position(put_position(begin, 'M', x), ' ', y);
	*at++ = 'h';
	*at++ = '0';
	buf_grown(out, (size_t)(at - begin));
}

/*
 * One path for all dots of a kind: a thousand calls have to fit beside the rest of the page. Shape: median[l->n], of this side of each
 * run.
 */
static void dots(struct buf *out, const struct store_runs *l, const double *median, bool target, bool slow)
{
	int position = 0; /* the call's number, which spreads it and is its place in time */
	emit_rawf(out, "<path class=\"%s\" d=\"", slow ? "calls slow" : "calls");
	for (int i = 0; i < l->n; i++) {
		const float *ms = target ? l->pairs[i].target_ms : l->pairs[i].base_ms;
		for (int k = 0; k < l->pairs[i].n; k++, position++) {
			double ratio = (double)ms[k] / median[i];
			if ((ratio > SLOW) == slow)
				dot(out, lrint(x_of(ratio)), TOP + target * LANE + 4 + position * 7 % 24);
		}
	}
	emit_raw(out, "\"/>");
}

static void frame(struct buf *out)
{
	static const char *const side[] = { "base", "target" };
	emit_rawf(out,
		"<figure><figcaption>Every call over its run's median; right of the line it counts as slow</figcaption>"
		"<svg class=dots viewBox=\"0 0 %d %d\" role=img aria-label=\"every timed call of base and target\">",
		WIDTH, HEIGHT);
	for (int i = 0; i < 2; i++)
		emit_rawf(out, "<text class=tick x=%d y=%d>%s</text>", LEFT - 8, TOP + i * LANE + 20, side[i]);
	for (int percent = 90; percent < 140; percent += 10)
		emit_rawf(out, "<text class=tick x=%.1f y=%d>%d %%</text>", x_of(percent / 100.0) + 14, HEIGHT - 4, percent);
	emit_rawf(out, "<path class=grid d=\"M%.1f %dV%d\"/>", x_of(SLOW), TOP, TOP + 2 * LANE);
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
	frame(out);
	for (int kind = 0; kind < 4; kind++)
		dots(out, l, median[kind & 1], kind & 1, kind & 2);
	emit_raw(out, "</svg></figure>\n");
}
