#include "web/html/html.h"

#include <math.h>

/* Multiple of the threshold that the axis shows at least. */
#define SHOWN 1.35
/* Factor for the margin beyond the outermost values. */
#define MARGIN 1.04

struct axis axis_empty(void)
{
	return (struct axis){ 0, 0 };
}

void axis_cover(struct axis *axis, double pct)
{
	if (!isfinite(pct))
		return;
	axis->low_pct = fmin(axis->low_pct, pct);
	axis->high_pct = fmax(axis->high_pct, pct);
}

void axis_finish(struct axis *axis, double threshold_pct)
{
	double threshold = isfinite(threshold_pct) && threshold_pct > 0 ? threshold_pct : 0.5;
	axis->low_pct = fmin(axis->low_pct * MARGIN, -threshold * SHOWN);
	axis->high_pct = fmax(axis->high_pct * MARGIN, threshold * SHOWN);
}

double axis_at(const struct axis *axis, double pct)
{
	return fmin(1, fmax(0, (pct - axis->low_pct) / (axis->high_pct - axis->low_pct)));
}

/* The lowest of 1, 2, 5, 10, ... that is not below `step`. */
static double round_up(double step)
{
	double power = pow(10, floor(log10(step))), digits = step / power;
	return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

int axis_ticks(const struct axis *axis, double separate, double *pct)
{
	double step = round_up((axis->high_pct - axis->low_pct) * separate);
	int n = 0;
	for (int i = (int)ceil(axis->low_pct / step); i * step <= axis->high_pct && n < AXIS_TICKS_MAX; i++)
		pct[n++] = i * step;
	return n;
}
