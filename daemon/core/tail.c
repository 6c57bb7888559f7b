/* tail.c - what is slow, and how many of it are more than chance. */
#include "core/tail.h"

#include <math.h>
#include <stddef.h>

#define SLOW_FACTOR  1.04
#define TAIL_MORE    0.05 /* of share */
#define TAIL_P       0.001
#define TAIL_SUSPECT 0.1

static bool has_clock(const float *mhz, int n)
{
	for (int i = 0; mhz && i < n; i++)
		if (!(mhz[i] > 0))
			return false;
	return mhz != NULL;
}

static int count_slow(const float *ms, const float *mhz, int n, double beta)
{
	float at_equal_clock[STATS_PAIRS_MAX];
	int slow = 0;

	n = n < STATS_PAIRS_MAX ? n : STATS_PAIRS_MAX;
	if (has_clock(mhz, n) && beta < 0) {
		double typical = stats_median(mhz, n);

		for (int i = 0; i < n; i++)
			at_equal_clock[i] = (float)((double)ms[i] * pow((double)mhz[i] / typical, -beta));
		ms = at_equal_clock;
	}
	double limit = SLOW_FACTOR * stats_median(ms, n);

	for (int i = 0; i < n; i++)
		slow += (double)ms[i] > limit;
	return slow;
}

void tail_count(struct tail *t, const struct launch_pairs *launch, double beta)
{
	t->slow[0] += count_slow(launch->base_ms, launch->base_mhz, launch->n, beta);
	t->slow[1] += count_slow(launch->target_ms, launch->target_mhz, launch->n, beta);
	t->total += launch->n;
}

void tail_pool(struct tail *t, const struct tail *other)
{
	t->slow[0] += other->slow[0];
	t->slow[1] += other->slow[1];
	t->total += other->total;
}

/* p of slow calls having become more frequent; 1 where the share did not grow enough. */
static double p_of(const struct tail *t)
{
	if (t->total < 1 || (double)(t->slow[1] - t->slow[0]) / t->total <= TAIL_MORE)
		return 1;
	return stats_fisher(t->slow[0], t->total, t->slow[1], t->total);
}

bool tail_is(const struct tail *own, const struct tail *group)
{
	return p_of(own) < TAIL_P || (own->slow[1] > own->slow[0] && p_of(group) < TAIL_P);
}

bool tail_is_open(const struct tail *own, const struct tail *group)
{
	return !tail_is(own, group) && (p_of(own) < TAIL_SUSPECT || (p_of(group) < TAIL_SUSPECT && p_of(group) >= TAIL_P));
}
