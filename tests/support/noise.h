/**
 * noise.h - a seeded model of paired timings for tests of the rule.
 *
 * A pair's two calls share the device's slow drift and the run's own offset; each has white noise, now and then a slow outlier,
 * and a clock that wanders and divides the time. A run also shifts the ratio itself (what pairing cannot remove).
 */
#ifndef TESTS_NOISE_H
#define TESTS_NOISE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/stats.h"

struct noise {
	uint64_t state;
	double white;   /* sd of one call, log */
	double run;     /* sd of the ratio between runs, log */
	double clock;   /* sd of one call's clock, log; 0: no clock */
	double outlier; /* share of calls that are 2..20 % slower */
};

static inline double noise_uniform(struct noise *n)
{
	uint64_t x = n->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double noise_normal(struct noise *n)
{
	double radius = sqrt(-2 * log(noise_uniform(n)));

	return radius * cos(6.283185307179586 * noise_uniform(n));
}

static inline void noise_call(struct noise *n, double log_ms, float *ms, float *mhz)
{
	double clock = n->clock * noise_normal(n);

	log_ms += n->white * noise_normal(n) - clock;
	if (noise_uniform(n) < n->outlier)
		log_ms += 0.02 + 0.18 * noise_uniform(n);
	*ms = (float)exp(log_ms);
	*mhz = n->clock > 0 ? (float)(1650 * exp(clock)) : 0;
}

/** Samples of one run whose target is `shift` slower (log). */
struct noise_run {
	float base_ms[STATS_PAIRS_MAX], target_ms[STATS_PAIRS_MAX], base_mhz[STATS_PAIRS_MAX], target_mhz[STATS_PAIRS_MAX];
};

static inline void noise_pairs(struct noise *n, double shift, int pairs, int set, struct noise_run *l, struct run_pairs *out)
{
	double offset = n->run * noise_normal(n), drift = 0.02 * noise_normal(n);

	for (int i = 0; i < pairs; i++) {
		drift += 0.001 * noise_normal(n);
		noise_call(n, 1 + drift, &l->base_ms[i], &l->base_mhz[i]);
		noise_call(n, 1 + drift + shift + offset, &l->target_ms[i], &l->target_mhz[i]);
	}
	*out = (struct run_pairs){ .set = set,
		.n = pairs,
		.base_ms = l->base_ms,
		.target_ms = l->target_ms,
		.base_mhz = n->clock > 0 ? l->base_mhz : NULL,
		.target_mhz = n->clock > 0 ? l->target_mhz : NULL };
}

#endif
