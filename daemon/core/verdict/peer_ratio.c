/* peer_ratio.c - see peer_ratio.h. */
#include "core/verdict/peer_ratio.h"

#include <math.h>

static double half_width(const struct standing_pair *p)
{
	return (log1p(p->ci_high_pct / 100) - log1p(p->ci_low_pct / 100)) / 2;
}

struct standing standing_paired(const struct standing_pair *beside)
{
	return (struct standing){ 100 * exp(-beside->m), 100 + beside->ci_low_pct, 100 + beside->ci_high_pct };
}

struct standing standing_chained(const struct standing_pair *base, const struct standing_pair *target)
{
	double m = base->m + target->m, half = hypot(half_width(base), half_width(target));
	return (struct standing){ 100 * exp(-m), 100 * exp(-m - half), 100 * exp(-m + half) };
}

struct standing standing_scaled(double peer_ms, double target_ms)
{
	return (struct standing){ peer_ms > 0 && target_ms > 0 ? 100 * peer_ms / target_ms : NAN, NAN, NAN };
}

double standing_at_clock(double ms, double beta, double mhz, double held_mhz)
{
	return isfinite(mhz) && isfinite(held_mhz) && mhz > 0 ? ms * exp(-beta * log(mhz / held_mhz)) : NAN;
}
