/* roofline.c - see roofline.c. */
#include "web/page/internal.h"

#include "profile/profile.h"
#include "web/html/html.h"

#define SECTOR 32.0

enum { WIDTH = 560, HEIGHT = 300, LEFT = 52, RIGHT = 14, TOP = 14, BOTTOM = 40 };

struct point {
	double intensity, tflops; /* FLOP a byte */
};

struct level {
	const char *name;
	double tb_s; /* its roof */
	struct point base, target;
};

struct scale {
	double low_x, high_x, low_y, high_y; /* logarithms */
};

static double bytes_of(const struct why *w, int side, const char *const metric[2], double unit)
{
	double sum = 0;

	for (size_t i = 0; i < w->pairing.n; i++)
		for (int m = 0; m < 2 && metric[m]; m++) {
			double v = tables_value(&w->pairing.pair[i], side, metric[m]);

			sum += isfinite(v) ? v * unit : 0;
		}
	return sum;
}

static double x_of(const struct scale *s, double intensity)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (log(intensity) - s->low_x) / (s->high_x - s->low_x);
}

static double y_of(const struct scale *s, double tflops)
{
	return TOP + (HEIGHT - TOP - BOTTOM) * (s->high_y - log(tflops)) / (s->high_y - s->low_y);
}

static bool is_whole(const struct level *l)
{
	return isfinite(log(l->base.intensity)) && isfinite(log(l->target.intensity)) && l->tb_s > 0;
}

static void include(struct scale *s, const struct point *p)
{
	s->low_x = fmin(s->low_x, log(p->intensity));
	s->high_x = fmax(s->high_x, log(p->intensity));
	s->low_y = fmin(s->low_y, log(p->tflops));
	s->high_y = fmax(s->high_y, log(p->tflops));
}

/* Ticks at 1, 2 and 5 times powers of ten. */
static void ticks(struct buf *out, const struct scale *s, bool of_x)
{
	static const double steps[] = { 1, 2, 5 };
	double low = of_x ? s->low_x : s->low_y, high = of_x ? s->high_x : s->high_y;
	bool wide = high - low > log(100);

	for (int power = (int)floor(low / log(10)); power <= high / log(10); power++)
		for (int i = 0; i < (wide ? 1 : 3); i++) {
			double v = steps[i] * pow(10, power);

			if (log(v) < low || log(v) > high)
				continue;
			if (of_x)
				emit_rawf(out,
					"<path class=grid d=\"M%.1f %dV%d\"/><text x=%.1f y=%d text-anchor=middle>%g</text>",
					x_of(s, v), TOP, HEIGHT - BOTTOM, x_of(s, v), HEIGHT - BOTTOM + 16, v);
			else
				emit_rawf(out, "<path class=grid d=\"M%d %.1fH%d\"/><text class=tick x=%d y=%.1f>%g</text>", LEFT,
					y_of(s, v), WIDTH - RIGHT, LEFT - 6, y_of(s, v) + 4, v);
		}
}

/* The slope up to the peak; what leaves the picture is cut at its edges. */
static void roof(struct buf *out, const struct scale *s, const struct level *l, double peak, int index)
{
	double from = fmax(exp(s->low_x), exp(s->low_y) / l->tb_s), to = fmin(exp(s->high_x), peak / l->tb_s);

	if (from >= to)
		return;
	/* the first roof has its name to the right, the second to the left of it */
	double at = sqrt(from * to), x = x_of(s, at) + (index ? -10 : 10), y = y_of(s, at * l->tb_s) + 4;

	emit_rawf(out, "<path class=\"roof r%d\" d=\"M%.1f %.1fL%.1f %.1f\"/>", index, x_of(s, from), y_of(s, from * l->tb_s),
		x_of(s, to), y_of(s, to * l->tb_s));
	emit_rawf(
		out, "<text x=%.1f y=%.1f text-anchor=%s>%s, %.1f TB/s</text>", x, y, index ? "end" : "start", l->name, l->tb_s);
}

static void arrow(struct buf *out, const struct scale *s, const struct level *l, int index)
{
	double x = x_of(s, l->base.intensity), y = y_of(s, l->base.tflops);
	double to_x = x_of(s, l->target.intensity), to_y = y_of(s, l->target.tflops), len = hypot(to_x - x, to_y - y);

	emit_rawf(out, "<g class=\"r%d\"><circle class=base cx=%.1f cy=%.1f r=5 />", index, x, y);
	if (len > 3) { /* its head ends where the target is */
		double dx = (to_x - x) / len, dy = (to_y - y) / len, head = fmin(9, len);

		emit_rawf(out, "<path class=arrow d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>", x, y, to_x, to_y,
			to_x - head * (dx + dy * 0.5), to_y - head * (dy - dx * 0.5), to_x, to_y, to_x - head * (dx - dy * 0.5),
			to_y - head * (dy + dx * 0.5));
	} else {
		emit_rawf(out, "<circle class=target cx=%.1f cy=%.1f r=2.5 />", to_x, to_y);
	}
	emit_rawf(out, "<text x=%.1f y=%.1f>%s</text>", x + 9, y - 7, l->name);
	emit_rawf(out, "<title>%s: base %.3g TFLOP/s at %.3g FLOP a byte, target %.3g at %.3g</title></g>", l->name,
		l->base.tflops, l->base.intensity, l->target.tflops, l->target.intensity);
}

static void picture(struct buf *out, const struct level *level, int n, double peak)
{
	struct scale s = { INFINITY, -INFINITY, INFINITY, -INFINITY };

	for (int i = 0; i < n; i++) {
		include(&s, &level[i].base);
		include(&s, &level[i].target);
	}
	s.high_y = fmax(s.high_y, log(peak)) + 0.2;
	s.low_y -= 0.7;
	s.low_x = fmin(s.low_x, log(peak / level[n - 1].tb_s)) - 1;
	s.high_x = fmax(s.high_x, log(peak / level[0].tb_s)) + 0.7;
	emit_rawf(out,
		"<svg class=\"chart roofline\" viewBox=\"0 0 %d %d\" role=img aria-label=\"useful TFLOP/s against FLOP a byte; the figures "
		"stand below\">",
		WIDTH, HEIGHT);
	ticks(out, &s, true);
	ticks(out, &s, false);
	for (int i = 0; i < n; i++)
		roof(out, &s, &level[i], peak, i);
	emit_rawf(out, "<path class=\"roof\" d=\"M%.1f %.1fH%d\"/><text x=%d y=%.1f text-anchor=end>peak %.0f TFLOP/s</text>",
		fmax(LEFT, x_of(&s, peak / level[n - 1].tb_s)), y_of(&s, peak), WIDTH - RIGHT, WIDTH - RIGHT, y_of(&s, peak) - 5,
		peak);
	for (int i = 0; i < n; i++)
		arrow(out, &s, &level[i], i);
	emit_rawf(out, "<text x=%d y=%d text-anchor=middle>useful FLOP a byte; up: useful TFLOP/s; both logarithmic</text></svg>",
		(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
}

static int digits(double v)
{
	return v < 10 ? 2 : v < 100 ? 1 : 0;
}

void roofline_draw(struct buf *out, const struct why *w, const struct screen_facts *facts)
{
	static const char *const dram[2] = { "dram__bytes_read.sum", "dram__bytes_write.sum" }, *const l2[2] = {
		"lts__t_sectors.sum", NULL
	};
	struct rates rates = rates_of(&facts->device);
	struct level level[2], whole[2];
	double work[2] = { facts->base_tflops * w->base_ms * 1e9, facts->target_tflops * w->target_ms * 1e9 };
	int n = 0;

	if (!w->evidence.is_counted)
		return;
	level[0] = (struct level){ "DRAM", facts->dram_gb_s / 1e3, { work[0] / bytes_of(w, 0, dram, 1), facts->base_tflops },
		{ work[1] / bytes_of(w, 1, dram, 1), facts->target_tflops } };
	level[1] = (struct level){ "L2", rates.l2_bytes / 1e9, { work[0] / bytes_of(w, 0, l2, SECTOR), facts->base_tflops },
		{ work[1] / bytes_of(w, 1, l2, SECTOR), facts->target_tflops } };
	emit_raw(out, "<h3>Roofline</h3>");
	for (int i = 0; i < 2; i++)
		if (is_whole(&level[i]))
			whole[n++] = level[i];
	if (n == 0 || !(facts->peak_tflops > 0) || !(work[0] > 0) || !(work[1] > 0)) {
		emit_rawf(out, "<p><small>It cannot be drawn: %s not known.</small></p>\n",
			!(work[0] > 0) || !(work[1] > 0) ? "the useful FLOPs are"
			: !(facts->peak_tflops > 0)      ? "the device\u2019s peak is"
							 : "the bytes are");
		return;
	}
	emit_raw(out, "<figure>");
	picture(out, whole, n, facts->peak_tflops);
	emit_raw(out, "<figcaption>From base (ring) to target (arrow). ");
	for (int i = 0; i < n; i++)
		emit_rawf(out, "%s: %.4g TFLOP/s at %.*f FLOP a byte, then %.4g at %.*f. ", whole[i].name, whole[i].base.tflops,
			digits(whole[i].base.intensity), whole[i].base.intensity, whole[i].target.tflops,
			digits(whole[i].target.intensity), whole[i].target.intensity);
	emit_raw(out,
		"A point below a slope waits for that level of memory at least in part; below the peak alone it computes.</figcaption></figure>\n");
}
