/* tail.c - counts, lengths and significance of slow calls. */
#include "stats/stats.h"

#include <math.h>
#include <stddef.h>

#define SLOW_FACTOR 1.04
#define TAIL_MORE   0.05 /* of share */

enum {
	PAIRS_MIN = 4,  /* with two or three calls the middle one is not typical */
	CHANCE_RUNS = 6 /* weight in runs of the assumption that slow calls are random */
};

static bool has_clock(const float *mhz, int n)
{
	for (int i = 0; mhz && i < n; i++)
		if (!(mhz[i] > 0))
			return false;
	return mhz != NULL;
}

/* `first[i]`: whether call i begins another run. */
static void count_side(struct tail_side *s, const float *ms, const float *mhz, const bool *first, int n, double beta)
{
	float at_equal_clock[STATS_PAIRS_MAX];
	int calls = 0, slow = 0; /* of the run */

	if (has_clock(mhz, n) && beta < 0) {
		double typical = stats_median(mhz, n);

		for (int i = 0; i < n; i++)
			at_equal_clock[i] = (float)((double)ms[i] * pow((double)mhz[i] / typical, -beta));
		ms = at_equal_clock;
	}
	double typical = stats_median(ms, n);

	for (int i = 0; i < n; i++) {
		double longer = (double)ms[i] / typical - 1;

		calls++;
		if ((double)ms[i] > SLOW_FACTOR * typical) {
			slow++;
			s->slow++;
			s->longer += longer;
			s->squares += longer * longer;
		}
		if (i + 1 == n || first[i + 1]) {
			s->spread += (double)slow * slow / calls;
			calls = slow = 0;
		}
	}
}

void tail_count(struct tail *t, const struct run_pairs *run, double beta)
{
	static const bool one_run[STATS_PAIRS_MAX] = { true };
	int n = run->n < STATS_PAIRS_MAX ? run->n : STATS_PAIRS_MAX;

	if (n < PAIRS_MIN)
		return;
	count_side(&t->side[TAIL_BASE], run->base_ms, run->base_mhz, one_run, n, beta);
	count_side(&t->side[TAIL_TARGET], run->target_ms, run->target_mhz, one_run, n, beta);
	t->calls += n;
	t->runs++;
}

void tail_count_in_block(struct tail *t, struct tail_block *block, const struct run_pairs *run, double beta)
{
	if (run->n >= PAIRS_MIN) {
		tail_count(t, run, beta);
		return;
	}
	for (int i = 0; i < run->n; i++, block->n++) {
		block->first[block->n] = i == 0;
		block->base_ms[block->n] = run->base_ms[i];
		block->target_ms[block->n] = run->target_ms[i];
		block->base_mhz[block->n] = run->base_mhz ? run->base_mhz[i] : 0;
		block->target_mhz[block->n] = run->target_mhz ? run->target_mhz[i] : 0;
	}
	block->runs++;
	if (block->n < PAIRS_MIN)
		return;
	count_side(&t->side[TAIL_BASE], block->base_ms, block->base_mhz, block->first, block->n, beta);
	count_side(&t->side[TAIL_TARGET], block->target_ms, block->target_mhz, block->first, block->n, beta);
	t->calls += block->n;
	t->runs += block->runs;
	block->runs = block->n = 0;
}

void tail_pool(struct tail *t, const struct tail *other)
{
	t->runs += other->runs;
	t->calls += other->calls;
	for (int i = 0; i < 2; i++) {
		t->side[i].slow += other->side[i].slow;
		t->side[i].longer += other->side[i].longer;
		t->side[i].squares += other->side[i].squares;
		t->side[i].spread += other->side[i].spread;
	}
}

double tail_share(const struct tail *t, enum tail_which side)
{
	return t->calls ? (double)t->side[side].slow / t->calls : 0;
}

double tail_share_variance(const struct tail *t, enum tail_which side)
{
	const struct tail_side *s = &t->side[side];
	double n = fmax(1, t->calls), share = s->slow / n, likely = (s->slow + 0.5) / (n + 1);
	double by_chance = likely * (1 - likely) / n;

	if (share <= 0 || share >= 1 || t->runs < 2)
		return by_chance;
	double seen =
		fmax(0, s->spread - s->slow * share) / (share * (1 - share)); /* chance gives one for each run but the first */

	return by_chance * (CHANCE_RUNS + seen) / (CHANCE_RUNS + t->runs - 1);
}

double tail_cost(const struct tail *t)
{
	if (t->calls == 0)
		return 0;
	return log1p(t->side[TAIL_TARGET].longer / t->calls) - log1p(t->side[TAIL_BASE].longer / t->calls);
}

static enum tail_which other(enum tail_which side)
{
	return side == TAIL_TARGET ? TAIL_BASE : TAIL_TARGET;
}

double tail_p(const struct tail *t, enum tail_which more)
{
	return stats_fisher(t->side[other(more)].slow, t->calls, t->side[more].slow, t->calls);
}

bool tail_matters(const struct tail *t, enum tail_which more, double theta)
{
	double cost = more == TAIL_TARGET ? tail_cost(t) : -tail_cost(t);

	return tail_share(t, more) - tail_share(t, other(more)) > TAIL_MORE || cost > theta;
}
