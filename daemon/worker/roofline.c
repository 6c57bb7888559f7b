/* roofline.c - work divided by peak. */
#include "worker/internal.h"

#include <math.h>

static const double share = 0.9;

/* Peaks are given for dense bf16. Return the factor for the multiplications of this cell. */
static double times_bf16(const struct cell *c)
{
	const struct family *f = case_family(c);

	switch (f && f->multiplied ? f->multiplied(c->shape.bytes, c->direction) : FW_BF16) {
	case FW_E4M3:
	case FW_E5M2:
	case FW_I8:
		return 2;
	case FW_I4:
		return 4;
	default:
		return 1;
	}
}

double roofline_floor_ms(const struct msg_device *d, const struct cell *c)
{
	double bytes = case_bytes(c) - 2.0 * (double)d->l2_bytes, flops = case_flops(c), ms = 0;

	if (d->peak_tflops > 0 && flops > 0)
		ms = flops / (d->peak_tflops * times_bf16(c) * 1e9);
	if (d->peak_gb_s > 0 && bytes > 0)
		ms = fmax(ms, bytes / (d->peak_gb_s * 1e6));
	return share * ms;
}
