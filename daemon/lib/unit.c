/* unit.c - units of rates and times. */
#include "lib/lib.h"

#include <math.h>

enum { DECIMALS_MAX = 15 };

struct unit unit_of_rates(double most_tflops)
{
	static const struct unit known[] = { { "TFLOP/s", 1 }, { "GFLOP/s", 1e3 }, { "MFLOP/s", 1e6 }, { "kFLOP/s", 1e9 } };
	enum { LAST = sizeof known / sizeof known[0] - 1 };
	int i = 0;
	if (!isfinite(most_tflops) || !(most_tflops > 0))
		return known[0];
	while (i < LAST && most_tflops * known[i].factor < 0.9995)
		i++;
	return known[i];
}

double unit_max(double a, double b)
{
	return fmax(a, b); /* ignores a NAN */
}

/* Format with `digits` significant digits, and at least `least` decimals, which suffice for numbers from `enough` on. */
static void write_figure(double v, int digits, int least, double enough, char *out)
{
	int decimals = least;
	if (!isfinite(v)) {
		out[0] = '\0';
		return;
	}
	if (v != 0 && fabs(v) < enough)
		decimals = (int)fmax(least, fmin(DECIMALS_MAX, digits - 1 - floor(log10(fabs(v)))));
	decimal_text(out, UNIT_FIGURE_SIZE, v, decimals);
}

void unit_rate(struct unit unit, double tflops, char *out)
{
	write_figure(tflops * unit.factor, 3, 1, 10, out);
}

void unit_ms(double ms, char *out)
{
	if (fabs(ms) < 10)
		write_figure(ms, 4, 4, 0.1, out);
	else
		write_figure(ms, 4, 2, 10, out);
}
