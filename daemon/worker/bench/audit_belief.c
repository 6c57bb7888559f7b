/* audit_belief.c - medians of slopes, and how sure they are. */
#include "worker/bench/audit_belief.h"

#include <math.h>
#include <stdio.h>

#include "core/stats/stats.h"

enum { SLOPES_MAX = AUDIT_TRIES * AUDIT_PAIRS };

/* A median, and its standard error. */
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

/* The error of a median is 1.25 times that of a mean, and 1.48 median deviations are a standard deviation, where slopes are normal. */
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

/* Why an audit is none; NULL it is whole. */
static const char *flaw(const struct audit *a)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		if (a->n[side] != 2 * AUDIT_PAIRS)
			return "it could not be measured again by the supervisor's clock";
		for (i = 0; i < AUDIT_PAIRS; i++)
			if (a->batch[side][i][0].calls == a->batch[side][i][1].calls)
				return "its batches for the supervisor's clock were all of one size";
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

/* What a call takes here beside itself. */
static double beside(double base_wall_ms, const struct audit_claim *claim)
{
	return fmin(fmax(base_wall_ms - claim->base_ms, 0), AUDIT_BESIDE_MS);
}

/* The gain by the supervisor's clock, where a call of the target may take up to `slack_ms` less. */
static double gain_seen(const double wall_ms[2], double slack_ms, const struct audit_claim *claim)
{
	double extra = beside(wall_ms[0], claim), target = wall_ms[1] - extra - slack_ms;

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
	snprintf(why, size, "%.3g times the base's speed was reported, %.3g times it is by the supervisor's clock",
		exp(claim->gain), exp(seen));
	return false;
}

/* The device counts less than its share of what passed here. */
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
	double extra = beside(ms[0], claim);
	double error = hypot(wall[0].se / (ms[0] - extra), wall[1].se / fmax(ms[1] - extra, AUDIT_SLACK_MS));

	return gain_seen(ms, AUDIT_SLACK_MS, claim) + AUDIT_ERRORS * error < AUDIT_GAIN_SHARE * claim->gain;
}
