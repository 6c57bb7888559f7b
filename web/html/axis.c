#include "web/html/html.h"

/* Multiples of the threshold: how much of it the axis shows at least, and beyond which the axis bends. */
#define SHOWN 1.35
#define BENDS 10
/* Factor for the margin beyond the outermost values. */
#define ROOM 1.04

struct axis axis_none(void)
{
	return (struct axis){ 0, 0, 0 };
}

void axis_cover(struct axis *axis, double pct)
{
	if (!isfinite(pct))
		return;
	axis->low_pct = fmin(axis->low_pct, pct);
	axis->high_pct = fmax(axis->high_pct, pct);
}

void axis_settle(struct axis *axis, double threshold_pct)
{
	double threshold = isfinite(threshold_pct) && threshold_pct > 0 ? threshold_pct : 0.5;
	axis->low_pct = fmin(axis->low_pct * ROOM, -threshold * SHOWN);
	axis->high_pct = fmax(axis->high_pct * ROOM, threshold * SHOWN);
	axis->bend_pct = fmax(-axis->low_pct, axis->high_pct) > threshold * BENDS ? threshold : 0;
}

static double bent(const struct axis *axis, double pct)
{
	return axis->bend_pct > 0 ? asinh(pct / axis->bend_pct) : pct;
}

double axis_at(const struct axis *axis, double pct)
{
	double low = bent(axis, axis->low_pct), high = bent(axis, axis->high_pct);
	return fmin(1, fmax(0, (bent(axis, pct) - low) / (high - low)));
}

/* The lowest of 1, 2, 5, 10, ... that is not below `step`. */
static double round_up(double step)
{
	double power = pow(10, floor(log10(step))), digits = step / power;
	return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

/* The next tick outwards after one that is written, on one side of 0. */
static double next_tick(const struct axis *axis, double magnitude, double separate)
{
	if (axis->bend_pct <= 0)
		return magnitude + round_up((axis->high_pct - axis->low_pct) * separate);
	return magnitude > 0 ? magnitude * 10 : round_up(axis->bend_pct);
}

/* Shape: pct[most], going away from 0. */
static int ticks_of_side(const struct axis *axis, double sign, double separate, int most, double *pct)
{
	double end = sign < 0 ? -axis->low_pct : axis->high_pct, last = axis_at(axis, 0), tick = 0;
	int n = 0;
	while (n < most && (tick = next_tick(axis, tick, separate)) <= end) {
		double at = axis_at(axis, sign * tick);
		if (fabs(at - last) < separate * 0.999)
			continue;
		last = at;
		pct[n++] = sign * tick;
	}
	return n;
}

int axis_ticks(const struct axis *axis, double separate, double *pct)
{
	enum { SIDE_MAX = (AXIS_TICKS_MAX - 1) / 2 };
	double below[SIDE_MAX];
	int n_below = ticks_of_side(axis, -1, separate, SIDE_MAX, below), n = 0;
	while (n_below > 0)
		pct[n++] = below[--n_below];
	pct[n++] = 0;
	return n + ticks_of_side(axis, 1, separate, SIDE_MAX, pct + n);
}
