/* rates.c - known rates, or their defaults. */
#include "profile/profile.h"

#include <math.h>

#define H200_SMS        132
#define H200_MHZ        1700 /* clock of attention at the power limit */
#define H200_DRAM_GB_S  4800
#define DRAM_REACHED    0.9
#define L2_BYTES        24.0 /* per cycle and multiprocessor */
#define REDUCE_REACHED  0.5
#define BYTES_IN_MS(gb) ((gb)*1e6)

static double known(double v, double usual)
{
	return isfinite(v) && v > 0 ? v : usual;
}

struct rates rates_of(const struct cause_device *d)
{
	struct rates r = { .sms = d->sms > 0 ? d->sms : H200_SMS, .mhz = known(d->mhz, H200_MHZ) };

	r.dram_bytes = BYTES_IN_MS(DRAM_REACHED * known(d->dram_gb_s, H200_DRAM_GB_S));
	r.l2_bytes = isfinite(d->l2_gb_s) && d->l2_gb_s > 0 ? BYTES_IN_MS(d->l2_gb_s) : L2_BYTES * r.sms * r.mhz * 1e3;
	r.reduce_bytes = REDUCE_REACHED * r.l2_bytes;
	return r;
}
