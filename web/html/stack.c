#include "web/html/html.h"

#include <math.h>

enum { WIDTH = 540, LEFT = 58, RIGHT = 12, BAR = 22, GAP = 16, TOP = 20, HEIGHT = TOP + 2 * BAR + GAP + 4, LETTER = 7 };

static double length_of(const struct stack_part *part, bool target)
{
	double ms = target ? part->target_ms : part->base_ms;
	return isfinite(ms) && ms > 0 ? ms : 0;
}

static double total(const struct stack_part *part, int n, bool target)
{
	double ms = 0;
	for (int i = 0; i < n; i++)
		ms += length_of(&part[i], target);
	return ms;
}

/* Its tone separates it from its neighbours, and a hatched edge marks the phase that moved, not colour alone. */
static void segment(struct buf *out, const struct stack_part *part, int i, bool target, double x, double width)
{
	emit_format(out, "<rect class=\"part%-s p%d\" x=%.1f y=%d width=%.1f height=%d><title>%s, %-s: %.4g ms</title></rect>",
		part->moved && target ? " moved" : "", i % 3, x, TOP + target * (BAR + GAP), width, BAR, part->name,
		target ? "target" : "base", length_of(part, target));
}

/* A name above its segment, where it fits before the next one. */
static void name(struct buf *out, const struct stack_part *part, double x, double width)
{
	if ((double)strlen(part->name) * LETTER > width)
		return;
	emit_format(out, "<text x=%.1f y=%d>%s</text>", x + 2, TOP - 6, part->name);
}

void stack_draw(struct buf *out, const struct stack_part *part, int n)
{
	double longest = fmax(total(part, n, false), total(part, n, true)), x[2] = { LEFT, LEFT };
	if (longest <= 0)
		return;
	double unit = (WIDTH - LEFT - RIGHT) / longest;
	emit_rawf(out,
		"<svg class=\"dots stack\" viewBox=\"0 0 %d %d\" role=img aria-label=\"phases of the base, %.4g ms in total, "
		"above those of the target, %.4g ms\"><text class=tick x=%d y=%d>base</text><text class=tick x=%d "
		"y=%d>target</text>",
		WIDTH, HEIGHT, total(part, n, false), total(part, n, true), LEFT - 8, TOP + BAR / 2 + 4, LEFT - 8,
		TOP + BAR + GAP + BAR / 2 + 4);
	for (int i = 0; i < n; i++) {
		double width[2] = { unit * length_of(&part[i], false), unit * length_of(&part[i], true) };
		name(out, &part[i], x[0], fmin(width[0], width[1]));
		for (int side = 0; side < 2; side++) {
			if (width[side] > 0)
				segment(out, &part[i], i, side, x[side], width[side]);
			x[side] += width[side];
		}
		/* connects the ends of the segment on both sides */
		emit_rawf(out, "<path class=ends d=\"M%.1f %dL%.1f %d\"/>", x[0], TOP + BAR, x[1], TOP + BAR + GAP);
	}
	emit_raw(out, "</svg>\n");
}
