/* trust.c - see trust.h. */
#include "core/turns/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats/stats.h"

enum { PROOFS = 2 /* turns that have to say the same */, FEW = 4 /* turns that say nothing yet */ };

#define SLACK          1.02 /* of two clocks, */
#define SLACK_MS       0.02
#define GAIN           0.8 /* audited from this ratio on */
#define HEARD          0.5 /* of the gain */
#define AUDIBLE_MS     0.1 /* of a turn */
#define REST_SHARE     0.2 /* of a core */
#define REST_CPU_S     0.004
#define RESTLESS_SHARE 0.02 /* of a core: then its queue is looked at, */
#define CROWDED_SHARE  0.04 /* and this much of a core accuses */
#define WANTED_SHARE   0.8  /* of one that wanted a core nearly all the time */
#define IDLE_TIMES     4.0
#define IDLE_APART_US  500.0
#define QUANTILE_SHARE 10 /* the fastest tenth, which interruptions have not touched */

void turns_bound(struct turns_seen *s, double ms, double turn_ms)
{
	if (ms <= turn_ms * SLACK + SLACK_MS)
		return;
	if (s->too_long++ == 0 || ms / turn_ms > s->said_ms / s->lived_ms) {
		s->said_ms = ms;
		s->lived_ms = turn_ms;
	}
}

void turns_see(struct turns_seen *s, double ms, double repeats, double turn_ms, double idle_us)
{
	turns_bound(s, ms * (repeats > 1 ? repeats : 1), turn_ms);
	s->chooses = s->chooses || repeats > 0;
	s->repeats = s->repeats || repeats > 1;
	s->ms[s->next] = (float)ms;
	s->turn_ms[s->next] = (float)turn_ms;
	s->idle_us[s->next] = (float)idle_us;
	s->next = (s->next + 1) % TURNS_SEEN_MAX;
	s->n += s->n < TURNS_SEEN_MAX;
}

bool turns_overstates(const struct turns_seen *s, char *why)
{
	if (s->too_long < PROOFS)
		return false;
	snprintf(why, TURNS_WHY_SIZE, "a call is said to have taken %.4g ms in a turn of %.4g ms, and so in %d turns", s->said_ms,
		s->lived_ms, s->too_long);
	return true;
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double fastest(const float *v, int n)
{
	float sorted[TURNS_SEEN_MAX];

	memcpy(sorted, v, (size_t)n * sizeof *v);
	qsort(sorted, (size_t)n, sizeof *sorted, by_size);
	return (double)sorted[n / QUANTILE_SHARE];
}

bool turns_gain_is_missing(const struct turns_seen *base, const struct turns_seen *target, int calls, char *why)
{
	if (base->n < FEW || target->n < FEW || (base->chooses && (base->repeats || target->repeats)))
		return false;
	double base_ms = fastest(base->ms, base->n), target_ms = fastest(target->ms, target->n);
	double base_turn = fastest(base->turn_ms, base->n), target_turn = fastest(target->turn_ms, target->n);
	double claimed = (base_ms - target_ms) * calls;

	if (target_ms > GAIN * base_ms || claimed < AUDIBLE_MS || base_turn - target_turn >= HEARD * claimed)
		return false;
	snprintf(why, TURNS_WHY_SIZE,
		"calls of %.4g instead of %.4g ms are said to make a turn %.4g ms shorter; by the worker's clock it became %.4g "
		"ms "
		"%s (%.4g and %.4g ms)",
		target_ms, base_ms, claimed, base_turn > target_turn ? base_turn - target_turn : target_turn - base_turn,
		base_turn > target_turn ? "shorter" : "longer", base_turn, target_turn);
	return true;
}

static void add(struct turns_rest *sum, const struct turns_rest *rest)
{
	sum->s += rest->s;
	sum->cpu_s += rest->cpu_s;
	sum->queued_s += rest->queued_s;
}

void turns_rest_note(struct turns_seen *s, const struct turns_rest *rest, bool is_watched)
{
	add(&s->rest, rest);
	if (is_watched)
		add(&s->watched, rest);
}

bool turns_is_restless(const struct turns_seen *s)
{
	return s->rest.s > 0 && s->rest.cpu_s > RESTLESS_SHARE * s->rest.s;
}

static bool computes(const struct turns_rest *r)
{
	return r->cpu_s > REST_CPU_S && r->cpu_s > REST_SHARE * r->s;
}

static bool never_rests(const struct turns_rest *r)
{
	return r->cpu_s > REST_CPU_S && r->cpu_s > CROWDED_SHARE * r->s && r->cpu_s + r->queued_s > WANTED_SHARE * r->s;
}

bool turns_goes_on(const struct turns_seen *side, const struct turns_seen *other, char *why)
{
	if (computes(&side->rest)) {
		snprintf(why, TURNS_WHY_SIZE, "computes while the other side has the turn: %.3g s of processor time in %.3g s",
			side->rest.cpu_s, side->rest.s);
		return true;
	}
	if (never_rests(&side->watched)) {
		snprintf(why, TURNS_WHY_SIZE,
			"computes while the other side has the turn: %.3g s of processor time in %.3g s, and %.3g s of waiting for it",
			side->watched.cpu_s, side->watched.s, side->watched.queued_s);
		return true;
	}
	if (side->n < FEW || other->n < FEW)
		return false;
	double own_us = stats_median(side->idle_us, side->n), late_us = stats_median(other->idle_us, other->n);

	if (own_us <= 0 || late_us < IDLE_TIMES * own_us || late_us < own_us + IDLE_APART_US)
		return false;
	snprintf(why, TURNS_WHY_SIZE,
		"leaves work on the device: after its turns the device answers the other side after %.4g us, otherwise after "
		"%.4g us",
		late_us, own_us);
	return true;
}
