/* peer_ratio.c - ratios and intervals. */
#include "verdict/verdict.h"

#include <math.h>

static double half_width(const struct peer_ratio_pair *p)
{
	return (log1p(p->ci_high_pct / 100) - log1p(p->ci_low_pct / 100)) / 2;
}

struct peer_ratio peer_ratio_paired(const struct peer_ratio_pair *pair)
{
	return (struct peer_ratio){ 100 * exp(-pair->m), 100 + pair->ci_low_pct, 100 + pair->ci_high_pct };
}

struct peer_ratio peer_ratio_chained(const struct peer_ratio_pair *base, const struct peer_ratio_pair *target)
{
	double m = base->m + target->m, half = hypot(half_width(base), half_width(target));
	return (struct peer_ratio){ 100 * exp(-m), 100 * exp(-m - half), 100 * exp(-m + half) };
}

struct peer_ratio peer_ratio_scaled(double peer_ms, double target_ms)
{
	return (struct peer_ratio){ peer_ms > 0 && target_ms > 0 ? 100 * peer_ms / target_ms : NAN, NAN, NAN };
}

double peer_ratio_at_clock(double ms, double beta, double mhz, double held_mhz)
{
	return isfinite(mhz) && isfinite(held_mhz) && mhz > 0 ? ms * exp(-beta * log(mhz / held_mhz)) : NAN;
}
