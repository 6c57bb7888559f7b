/* explain.c - sentences from numbers. */
#include "verdict/verdict.h"

#include <math.h>

#define CLOCK_SAME 0.005 /* of a clock */
#define POWER_SAME 0.03  /* of a power: the resolution of the driver's counter */
#define MANY       3.5   /* from this number on a share is written as one in how many */

void explain_components(double code_pct, double clock_pct, char out[EXPLAIN_SIZE])
{
	int higher = clock_pct > 0;
	const char *does = higher == (code_pct > 0) ? "adds to it" : higher ? "gives some back" : "takes some of it";

	snprintf(out, EXPLAIN_SIZE, "the code %+.2f %%, a clock %.2f %% %s %s", code_pct, fabs(clock_pct),
		higher ? "higher" : "lower", does);
}

static double watts(const struct sustained_level *s)
{
	return s->joules > 0 && s->ms > 0 ? 1000 * s->joules / s->ms : 0;
}

void explain_sustained_runs(const struct sustained_level *base, const struct sustained_level *target, char out[EXPLAIN_SIZE])
{
	double base_w = watts(base), target_w = watts(target);

	out[0] = '\0';
	if (!(base->mhz > 0) || !(target->mhz > 0) || fabs(target->mhz / base->mhz - 1) < CLOCK_SAME)
		return;
	int used = snprintf(out, EXPLAIN_SIZE, "the clock stabilises at %.0f MHz instead of %.0f", target->mhz, base->mhz);

	if (!(base_w > 0) || !(target_w > 0))
		return;
	if (fabs(target_w / base_w - 1) < POWER_SAME)
		snprintf(out + used, EXPLAIN_SIZE - (size_t)used, ", at equal power (%.0f W)", target_w);
	else
		snprintf(out + used, EXPLAIN_SIZE - (size_t)used, ", at %.0f W instead of %.0f", target_w, base_w);
}

/* Shape: out[24]. */
static const char *us_text(double us, char *out)
{
	snprintf(out, 24, "%.*f us", us < 10 ? 1 : 0, us);
	return out;
}

void explain_host_time(double base_us, double target_us, char out[EXPLAIN_SIZE])
{
	char base[24], target[24];

	out[0] = '\0';
	if (base_us > 0 && target_us > 0)
		snprintf(out, EXPLAIN_SIZE, "host time of a call: %s to %s (%+.0f %%)", us_text(base_us, base),
			us_text(target_us, target), 100 * (target_us / base_us - 1));
}

void explain_host_bound(double host_us, double device_ms, char out[EXPLAIN_SIZE])
{
	char host[24], device[24];

	out[0] = '\0';
	if (device_ms > 0 && host_us > 1000 * device_ms)
		snprintf(out, EXPLAIN_SIZE, "host-bound: host %s, device %s", us_text(host_us, host),
			us_text(1000 * device_ms, device));
}

void explain_underpowered(double noise_pct, double seen, double below_pct, char out[EXPLAIN_SIZE])
{
	char noise[40] = "so much", showed[40] = "";

	if (noise_pct > 0)
		snprintf(noise, sizeof noise, "by %.2f %%", noise_pct);
	if (seen > 0)
		snprintf(showed, sizeof showed, ", as %.0f of them showed,", seen);
	snprintf(out, EXPLAIN_SIZE, "runs of equal builds vary %s here%s %s a slowdown below %.1f %% has to be clear", noise,
		showed, noise_pct > 0 ? "so" : "that", below_pct);
}

/* "1 call in 10" or, if that is too coarse, "4 calls in 10". */
static size_t count_words(double share, char *out, size_t size)
{
	if (1 / share >= MANY)
		return (size_t)snprintf(out, size, "1 call in %.0f", 1 / share);
	return (size_t)snprintf(out, size, "%.0f calls in 10", 10 * share);
}

void explain_slow_calls(const double share[2], double longer, char out[EXPLAIN_SIZE])
{
	bool lost = share[1] > share[0];
	double most = lost ? share[1] : share[0], least = lost ? share[0] : share[1];

	out[0] = '\0';
	if (!(most > 0) || !(longer > 0))
		return;
	size_t used = count_words(most, out, EXPLAIN_SIZE);
	const char *take = !lost ? "took" : 1 / most >= MANY ? "takes" : "take";

	used += (size_t)snprintf(out + used, EXPLAIN_SIZE - used, " %s %.0f %% longer", take, 100 * longer);
	if (least * 10 < most)
		return;
	used += (size_t)snprintf(out + used, EXPLAIN_SIZE - used, ", ");
	used += count_words(least, out + used, EXPLAIN_SIZE - used);
	snprintf(out + used, EXPLAIN_SIZE - used, lost ? " did before" : " does");
}

void explain_undecided(double low_pct, double high_pct, double threshold_pct, char out[EXPLAIN_SIZE])
{
	out[0] = '\0';
	if (!isfinite(low_pct) || !isfinite(high_pct) || !(threshold_pct > 0))
		return;
	snprintf(out, EXPLAIN_SIZE, "%s",
		high_pct < -threshold_pct ? "its interval lies beyond the threshold, but too few runs agree to call it a slowdown"
		: low_pct > threshold_pct ? "its interval lies beyond the threshold, but too few runs agree to call it a gain"
		: low_pct > -threshold_pct && high_pct < threshold_pct
			? "its interval lies inside the threshold, but the standard error is too large to call it unchanged"
			: "its interval reaches across the threshold");
}

const char *explain_manifest(int n, const char *first)
{
	return n != 1 || strcmp(first, ".flopwatch.yaml") != 0
		       ? ""
		       : "only .flopwatch.yaml differs: its build, command and reader apply to this commit, but threshold_pct, costs, "
			 "budget_s and other settings of the base; its own apply from the next commit on";
}
