/* audit_belief.c - medians of slopes and their standard errors. */
#include "worker/internal.h"

#include <math.h>

#include "stats/stats.h"

enum { SLOPES_MAX = AUDIT_TRIES * AUDIT_PAIRS };

struct middle {
	double at, se;
};

static double median(const double *v, int n)
{
	float f[SLOPES_MAX] = { 0 };
	int i;

	for (i = 0; i < n; i++)
		f[i] = (float)v[i];
	return (double)stats_median(f, n);
}

/*
 * The standard error of a median is 1.25 times that of the mean; the standard deviation is 1.48 median absolute deviations.
 * Both hold for normal slopes.
 */
static struct middle middle_of(const double *v, int n)
{
	struct middle m = { .at = median(v, n) };
	double separate[SLOPES_MAX];
	int i;

	for (i = 0; i < n; i++)
		separate[i] = fabs(v[i] - m.at);
	m.se = 1.2533 * 1.4826 * median(separate, n) / sqrt(n);
	return m;
}

/* Return why an audit is unusable; NULL if it is complete. */
static const char *flaw(const struct audit *a)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		if (a->n[side] != 2 * AUDIT_PAIRS)
			return "the supervisor's clock could not measure it again";
		for (i = 0; i < AUDIT_PAIRS; i++)
			if (a->batch[side][i][0].calls == a->batch[side][i][1].calls)
				return "all of its batches for the supervisor's clock had one size";
	}
	return NULL;
}

void audit_pool_add(struct audit_pool *pool, const struct audit *a)
{
	int side, i;

	if (flaw(a) || pool->n + AUDIT_PAIRS > SLOPES_MAX)
		return;
	for (side = 0; side < 2; side++) {
		for (i = 0; i < AUDIT_PAIRS; i++) {
			const struct audit_batch *one = &a->batch[side][i][0], *other = &a->batch[side][i][1];
			int calls = other->calls - one->calls;

			pool->wall[side][pool->n + i] = (other->wall_ms - one->wall_ms) / calls;
			pool->device[side][pool->n + i] = (other->device_ms - one->device_ms) / calls;
		}
	}
	pool->n += AUDIT_PAIRS;
}

static double host_overhead(double base_wall_ms, const struct audit_claim *claim)
{
	return fmin(fmax(base_wall_ms - claim->base_ms, 0), AUDIT_BESIDE_MS);
}

/* The gain by the supervisor's clock, if a call of the target may take up to `slack_ms` less. */
static double gain_seen(const double wall_ms[2], double slack_ms, const struct audit_claim *claim)
{
	double extra = host_overhead(wall_ms[0], claim), target = wall_ms[1] - extra - slack_ms;

	return target > 0 ? log((wall_ms[0] - extra) / target) : INFINITY;
}

bool audit_believes(const struct audit *a, const struct audit_claim *claim, char *why, size_t size)
{
	struct audit_pool slopes = { .n = 0 };
	const char *none = flaw(a);
	double wall[2], device;
	int side;

	if (none) {
		snprintf(why, size, "%s", none);
		return false;
	}
	audit_pool_add(&slopes, a);
	for (side = 0; side < 2; side++) {
		wall[side] = median(slopes.wall[side], slopes.n);
		device = median(slopes.device[side], slopes.n);
		if (wall[side] > 0 && device >= AUDIT_CLOCK_SHARE * wall[side] - AUDIT_SLACK_MS)
			continue;
		snprintf(why, size,
			"the runner's clock counted %.4g ms for a call of the %s that took %.4g ms by the supervisor's clock",
			device, side ? "target" : "base", wall[side]);
		return false;
	}
	double seen = gain_seen(wall, 0, claim);
	if (seen >= AUDIT_GAIN_SHARE * claim->gain)
		return true;
	snprintf(why, size, "the runner reported %.3g times the base's speed; the supervisor's clock measured %.3g times",
		exp(claim->gain), exp(seen));
	return false;
}

/* Whether the device's clock counts less than its required share of the worker's time. */
static bool counts_too_little(const double *wall, const double *device, int n)
{
	double missing[SLOPES_MAX];
	struct middle m;
	int i;

	for (i = 0; i < n; i++)
		missing[i] = AUDIT_CLOCK_SHARE * wall[i] - AUDIT_SLACK_MS - device[i];
	m = middle_of(missing, n);
	return m.at > AUDIT_ERRORS * m.se;
}

bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim)
{
	struct middle wall[2];
	double ms[2];
	int side;

	if (pool->n == 0)
		return true;
	for (side = 0; side < 2; side++) {
		if (counts_too_little(pool->wall[side], pool->device[side], pool->n))
			return true;
		wall[side] = middle_of(pool->wall[side], pool->n);
		if (!(wall[side].at > 0))
			return false;
		ms[side] = wall[side].at;
	}
	double extra = host_overhead(ms[0], claim);
	double error = hypot(wall[0].se / (ms[0] - extra), wall[1].se / fmax(ms[1] - extra, AUDIT_SLACK_MS));

	return gain_seen(ms, AUDIT_SLACK_MS, claim) + AUDIT_ERRORS * error < AUDIT_GAIN_SHARE * claim->gain;
}
