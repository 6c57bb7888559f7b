/* roofline.c - work over peak. */
#include "worker/bench/roofline.h"

#include <math.h>

static const double share = 0.9;

double roofline_floor_ms(const struct msg_device *d, const struct cell *c)
{
	double bytes = case_bytes(c) - 2.0 * (double)d->l2_bytes, ms = 0;

	if (d->peak_tflops > 0)
		ms = case_flops(c) / (d->peak_tflops * 1e9);
	if (d->peak_gb_s > 0 && bytes > 0)
		ms = fmax(ms, bytes / (d->peak_gb_s * 1e6));
	return share * ms;
}
