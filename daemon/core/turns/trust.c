/* trust.c - see trust.h. */
#include "core/turns/trust.h"

#include <math.h>
#include <stdio.h>

#include "core/stats/stats.h"

enum {
	PROOFS = 2,  /* turns that have to say the same */
	FEW = 4,     /* fewer turns say nothing */
	ENOUGH = 20, /* turns of a side, from which on it may be accused of a gain that is not there */
};

#define SLACK          1.02 /* of two clocks, */
#define SLACK_MS       0.02
#define GAIN           0.8 /* audited from this ratio on */
#define HEARD          0.5 /* of the gain */
#define SURE           3.0 /* standard errors that it is missing by, in each half of the launches, */
#define CONFIRMED      2.0 /* or is there by, in all of them */
#define AUDIBLE_MS     0.1 /* of a turn */
#define REST_SHARE     0.2 /* of a core */
#define REST_CPU_S     0.004
#define RESTLESS_SHARE 0.02 /* of a core: then its queue is looked at, */
#define CROWDED_SHARE  0.04 /* and this much of a core accuses */
#define WANTED_SHARE   0.8  /* of one that wanted a core nearly all the time */
#define IDLE_TIMES     4.0
#define IDLE_APART_US  500.0

void turns_bound(struct turns_seen *s, double ms, double turn_ms)
{
	if (ms <= turn_ms * SLACK + SLACK_MS)
		return;
	if (s->too_long++ == 0 || ms / turn_ms > s->said_ms / s->lived_ms) {
		s->said_ms = ms;
		s->lived_ms = turn_ms;
	}
}

static void note(struct turns_seen *s, float ms, float turn_ms, float idle_us, bool cut)
{
	s->ms[s->next] = ms;
	s->turn_ms[s->next] = turn_ms;
	s->idle_us[s->next] = idle_us;
	s->cut[s->next] = cut;
	s->next = (s->next + 1) % TURNS_SEEN_MAX;
	s->n += s->n < TURNS_SEEN_MAX;
}

void turns_see(struct turns_seen *s, const struct turns_one *turn)
{
	turns_bound(s, turn->ms * (turn->repeats > 1 ? turn->repeats : 1), turn->turn_ms);
	s->chooses = s->chooses || turn->repeats > 0;
	s->repeats = s->repeats || turn->repeats > 1;
	note(s, (float)turn->ms, (float)turn->turn_ms, (float)turn->idle_us, turn->cut);
}

bool turns_overstates(const struct turns_seen *s, char *why)
{
	if (s->too_long < PROOFS)
		return false;
	snprintf(why, TURNS_WHY_SIZE, "a call is said to have taken %.4g ms in a turn of %.4g ms, and so in %d turns", s->said_ms,
		s->lived_ms, s->too_long);
	return true;
}

static void add(struct turns_rest *sum, const struct turns_rest *rest)
{
	sum->s += rest->s;
	sum->cpu_s += rest->cpu_s;
	sum->queued_s += rest->queued_s;
}

static bool computes(const struct turns_rest *r)
{
	return r->cpu_s > REST_SHARE * r->s;
}

static bool never_rests(const struct turns_rest *r)
{
	return r->cpu_s > CROWDED_SHARE * r->s && r->cpu_s + r->queued_s > WANTED_SHARE * r->s;
}

/* ---- over launches ------------------------------------------------------------------------------------------------------- */

void turns_evidence_add(struct turns_evidence *e, const struct turns_seen *s)
{
	struct turns_seen *half = &e->half[e->sessions++ % TURNS_HALVES];

	for (int i = 0; i < s->n; i++) {
		int at = (s->next + TURNS_SEEN_MAX - s->n + i) % TURNS_SEEN_MAX; /* the oldest first */

		note(half, s->ms[at], s->turn_ms[at], s->idle_us[at], s->cut[at]);
	}
	half->chooses = half->chooses || s->chooses;
	half->repeats = half->repeats || s->repeats;
	if (s->too_long > 0 && (half->too_long == 0 || s->said_ms / s->lived_ms > half->said_ms / half->lived_ms)) {
		half->said_ms = s->said_ms;
		half->lived_ms = s->lived_ms;
	}
	half->too_long += s->too_long;
	add(&half->rest, &s->rest);
	add(&half->watched, &s->watched);
}

bool turns_always_overstates(const struct turns_evidence *e, char *why)
{
	return turns_overstates(&e->half[0], why) && turns_overstates(&e->half[1], why);
}

bool turns_always_goes_on(const struct turns_evidence *side, const struct turns_evidence *other, char *why)
{
	return turns_goes_on(&side->half[0], &other->half[0], why) && turns_goes_on(&side->half[1], &other->half[1], why);
}

bool turns_may_go_on(const struct turns_evidence *e)
{
	struct turns_rest all = e->half[0].rest, watched = e->half[0].watched;

	add(&all, &e->half[1].rest);
	add(&watched, &e->half[1].watched);
	return computes(&all) || never_rests(&watched);
}

/* ---- a gain, by the worker's clock -------------------------------------------------------------------------------------- */

/* The mean of the middle half of some turns of a side, and its variance. */
struct middle {
	int n;
	double ms, ms_q, turn_ms, turn_q;
};

static struct middle middle_of(const struct turns_seen *s, bool with_cut)
{
	double ms[TURNS_SEEN_MAX], turn_ms[TURNS_SEEN_MAX];
	struct middle m = { .n = 0 };

	for (int i = 0; i < s->n; i++)
		if (with_cut || !s->cut[i]) {
			ms[m.n] = (double)s->ms[i];
			turn_ms[m.n++] = (double)s->turn_ms[i];
		}
	if (m.n > 0) {
		stats_trimmed(ms, m.n, &m.ms, &m.ms_q);
		stats_trimmed(turn_ms, m.n, &m.turn_ms, &m.turn_q);
	}
	return m;
}

/* Of both halves together. */
static struct middle both(const struct turns_evidence *e, bool with_cut)
{
	struct middle a = middle_of(&e->half[0], with_cut), b = middle_of(&e->half[1], with_cut);
	int n = a.n + b.n;
	double share = n > 0 ? (double)a.n / n : 0, rest = 1 - share;

	return (struct middle){ .n = n,
		.ms = share * a.ms + rest * b.ms,
		.ms_q = share * share * a.ms_q + rest * rest * b.ms_q,
		.turn_ms = share * a.turn_ms + rest * b.turn_ms,
		.turn_q = share * share * a.turn_q + rest * rest * b.turn_q };
}

static double claimed_ms(const struct middle *base, const struct middle *target, int calls)
{
	return (base->ms - target->ms) * calls;
}

static bool is_claimed(const struct middle *base, const struct middle *target, int calls)
{
	return base->n >= FEW && target->n >= FEW && target->ms <= GAIN * base->ms &&
	       claimed_ms(base, target, calls) >= AUDIBLE_MS;
}

/* By how much more the turns would have to become shorter to confirm the gain; above 0: it is not heard. `error` of that. */
static double missing_ms(const struct middle *base, const struct middle *target, int calls, double *error)
{
	double part = HEARD * calls;

	*error = sqrt(base->turn_q + target->turn_q + part * part * (base->ms_q + target->ms_q));
	return HEARD * claimed_ms(base, target, calls) - (base->turn_ms - target->turn_ms);
}

static bool is_unheard(const struct middle *base, const struct middle *target, int calls)
{
	double error, missing = missing_ms(base, target, calls, &error);

	return missing > -CONFIRMED * error;
}

/* Both halves for themselves, from turns that nothing cut short. */
static bool is_missing(const struct turns_evidence *base, const struct turns_evidence *target, int calls)
{
	int n_base = 0, n_target = 0;

	for (int i = 0; i < TURNS_HALVES; i++) {
		struct middle b = middle_of(&base->half[i], false), t = middle_of(&target->half[i], false);
		double error, missing = missing_ms(&b, &t, calls, &error);

		if (!is_claimed(&b, &t, calls) || missing <= SURE * error)
			return false;
		n_base += b.n;
		n_target += t.n;
	}
	return n_base >= ENOUGH && n_target >= ENOUGH;
}

static bool is_any(const struct turns_evidence *e, bool chooses)
{
	return chooses ? e->half[0].chooses || e->half[1].chooses : e->half[0].repeats || e->half[1].repeats;
}

enum turns_gain turns_gain(const struct turns_evidence *base, const struct turns_evidence *target, int calls, char *why)
{
	bool claimed = false, heard = false, with_cut = false;
	struct middle b, t;

	if (is_any(base, true) && (is_any(base, false) || is_any(target, false)))
		return TURNS_GAIN_NONE;
	for (int i = 0; i < 2;
		i++) { /* without turns that were cut short, which is less noise, and with them, where there are hardly others */
		b = both(base, i > 0);
		t = both(target, i > 0);
		if (!is_claimed(&b, &t, calls))
			continue;
		claimed = true;
		with_cut = i > 0;
		heard = heard || !is_unheard(&b, &t, calls);
	}
	if (!claimed || heard)
		return TURNS_GAIN_NONE;
	b = both(base, with_cut);
	t = both(target, with_cut);
	snprintf(why, TURNS_WHY_SIZE,
		"calls of %.4g instead of %.4g ms are said to make a turn %.4g ms shorter; by the worker's clock it became %.4g ms %s (%.4g and "
		"%.4g ms)",
		t.ms, b.ms, claimed_ms(&b, &t, calls), fabs(b.turn_ms - t.turn_ms), b.turn_ms > t.turn_ms ? "shorter" : "longer",
		b.turn_ms, t.turn_ms);
	return is_missing(base, target, calls) ? TURNS_GAIN_MISSING : TURNS_GAIN_UNHEARD;
}

/* ---- work in the turns of others ----------------------------------------------------------------------------------------- */

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

/* How long the device takes to answer, in turns that nothing cut short; 0 from too few of them. */
static double idle_us(const struct turns_seen *s)
{
	float us[TURNS_SEEN_MAX];
	int n = 0;

	for (int i = 0; i < s->n; i++)
		if (!s->cut[i])
			us[n++] = s->idle_us[i];
	return n < FEW ? 0 : stats_median(us, n);
}

bool turns_goes_on(const struct turns_seen *side, const struct turns_seen *other, char *why)
{
	if (side->rest.cpu_s > REST_CPU_S && computes(&side->rest)) {
		snprintf(why, TURNS_WHY_SIZE, "computes while the other side has the turn: %.3g s of processor time in %.3g s",
			side->rest.cpu_s, side->rest.s);
		return true;
	}
	if (side->watched.cpu_s > REST_CPU_S && never_rests(&side->watched)) {
		snprintf(why, TURNS_WHY_SIZE,
			"computes while the other side has the turn: %.3g s of processor time in %.3g s, and %.3g s of waiting for it",
			side->watched.cpu_s, side->watched.s, side->watched.queued_s);
		return true;
	}
	double own_us = idle_us(side), late_us = idle_us(other);

	if (own_us <= 0 || late_us < IDLE_TIMES * own_us || late_us < own_us + IDLE_APART_US)
		return false;
	snprintf(why, TURNS_WHY_SIZE,
		"leaves work on the device: after its turns the device answers the other side after %.4g us, otherwise after "
		"%.4g us",
		late_us, own_us);
	return true;
}
