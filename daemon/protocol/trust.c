/* trust.c - statistics of turns, and the thresholds for rejecting reported times. */
#include "protocol/protocol.h"

#include <math.h>
#include <stdio.h>

enum {
	PROOFS = 2,  /* turns shorter than their calls, for a rejection */
	FEW = 4,     /* fewer turns are no evidence */
	ENOUGH = 20, /* turns of each side, for the rejection of a gain */
};

#define SLACK            1.02 /* tolerated ratio of the program's clock to the worker's, */
#define SLACK_MS         0.02 /* and tolerated difference */
#define GAIN             0.8  /* gains are verified up to this ratio of target to base */
#define CONFIRMED_SHARE  0.5  /* share of the gain by which turns must become shorter */
#define REJECT_K         3.0  /* standard errors by which the reduction is too small, in each half of the runs */
#define CONFIRM_K        2.0  /* standard errors by which the reduction is large enough, over all runs */
#define DETECTABLE_MS    0.1  /* smallest gain of a turn that is verified */
#define BACKGROUND_SHARE 0.2  /* share of a core in other sides' turns, for a rejection */
#define BACKGROUND_CPU_S 0.004
#define WATCH_SHARE      0.02  /* share of a core from which on queued_s is read */
#define CROWDED_SHARE    0.04  /* share of a core, for a rejection with WANTED_SHARE */
#define WANTED_SHARE     0.8   /* share of a core used or waited for, for a rejection with CROWDED_SHARE */
#define IDLE_TIMES       4.0   /* ratio of the other side's idle_us to the side's, for a rejection */
#define IDLE_SEPARATE_US 500.0 /* difference of both, for a rejection */
#define QUEUED_SHARE     0.05  /* share of an interrupted turn for which its threads waited for a core */

void interleave_bound(struct interleave_turns *s, double ms, double turn_ms)
{
	if (ms <= turn_ms * SLACK + SLACK_MS)
		return;
	if (s->too_long++ == 0 || ms / turn_ms > s->reported_ms / s->actual_ms) {
		s->reported_ms = ms;
		s->actual_ms = turn_ms;
	}
}

static void note(struct interleave_turns *s, float ms, float turn_ms, float idle_us, bool cut)
{
	s->ms[s->next] = ms;
	s->turn_ms[s->next] = turn_ms;
	s->idle_us[s->next] = idle_us;
	s->cut[s->next] = cut;
	s->next = (s->next + 1) % INTERLEAVE_TURNS_MAX;
	s->n += s->n < INTERLEAVE_TURNS_MAX;
}

void interleave_add_turn(struct interleave_turns *s, const struct interleave_one *turn)
{
	interleave_bound(s, turn->ms * (turn->repeats > 1 ? turn->repeats : 1), turn->turn_ms);
	s->chooses = s->chooses || turn->repeats > 0;
	s->repeats = s->repeats || turn->repeats > 1;
	note(s, (float)turn->ms, (float)turn->turn_ms, (float)turn->idle_us, turn->cut);
}

static void note_single(struct interleave_single *s, float turn_ms, bool cut, double repeats)
{
	s->repeats = s->repeats == 0 || s->repeats == repeats ? repeats : -1;
	s->turn_ms[s->next] = turn_ms;
	s->cut[s->next] = cut;
	s->next = (s->next + 1) % INTERLEAVE_SINGLE_MAX;
	s->n += s->n < INTERLEAVE_SINGLE_MAX;
}

void interleave_add_single(struct interleave_turns *s, const struct interleave_one *turn)
{
	double repeats = turn->repeats > 1 ? turn->repeats : 1;

	interleave_bound(s, turn->ms * repeats, turn->turn_ms);
	note_single(&s->single, (float)turn->turn_ms, turn->cut, repeats);
}

bool interleave_overstates(const struct interleave_turns *s, char *why)
{
	if (s->too_long < PROOFS)
		return false;
	snprintf(why, INTERLEAVE_WHY_SIZE,
		"reports a call of %.4g ms in a turn of %.4g ms; %d turns are shorter than their calls", s->reported_ms,
		s->actual_ms, s->too_long);
	return true;
}

static void add(struct interleave_background *sum, const struct interleave_background *work)
{
	sum->s += work->s;
	sum->cpu_s += work->cpu_s;
	sum->queued_s += work->queued_s;
}

static bool computes(const struct interleave_background *r)
{
	return r->cpu_s > BACKGROUND_SHARE * r->s;
}

static bool is_always_busy(const struct interleave_background *r)
{
	return r->cpu_s > CROWDED_SHARE * r->s && r->cpu_s + r->queued_s > WANTED_SHARE * r->s;
}

static void add_turns(struct interleave_turns *sum, const struct interleave_turns *s)
{
	for (int i = 0; i < s->n; i++) {
		int at = (s->next + INTERLEAVE_TURNS_MAX - s->n + i) % INTERLEAVE_TURNS_MAX;

		note(sum, s->ms[at], s->turn_ms[at], s->idle_us[at], s->cut[at]);
	}
}

void interleave_evidence_add(struct interleave_evidence *e, const struct interleave_turns *s)
{
	struct interleave_turns *half = &e->half[e->sessions++ % INTERLEAVE_HALVES];

	add_turns(half, s);
	if (s->too_long > 0 && (half->too_long == 0 || s->reported_ms / s->actual_ms > half->reported_ms / half->actual_ms)) {
		half->reported_ms = s->reported_ms;
		half->actual_ms = s->actual_ms;
	}
	half->too_long += s->too_long;
	add(&half->background, &s->background);
	add(&half->watched, &s->watched);
}

void interleave_evidence_add_times(struct interleave_evidence *e, const struct interleave_turns *s)
{
	struct interleave_turns *half = &e->timed[e->timed_sessions++ % INTERLEAVE_HALVES];

	add_turns(half, s);
	half->chooses = half->chooses || s->chooses;
	half->repeats = half->repeats || s->repeats;
	for (int i = 0; i < s->single.n; i++) {
		int at = (s->single.next + INTERLEAVE_SINGLE_MAX - s->single.n + i) % INTERLEAVE_SINGLE_MAX;

		note_single(&half->single, s->single.turn_ms[at], s->single.cut[at], s->single.repeats);
	}
}

/* Return the failure class that one half of the runs shows; NULL: none. */
static const char *judge_half(const struct interleave_turns *side, const struct interleave_turns *other, char *why)
{
	if (interleave_overstates(side, why))
		return "clock";
	return interleave_overlaps(side, other, why) ? "escaped" : NULL;
}

const char *interleave_find_fault(const struct interleave_evidence *side, const struct interleave_evidence *other, char *why)
{
	return judge_half(&side->half[0], &other->half[0], why) ? judge_half(&side->half[1], &other->half[1], why) : NULL;
}

bool interleave_may_overlap(const struct interleave_evidence *e)
{
	struct interleave_background all = e->half[0].background, watched = e->half[0].watched;

	add(&all, &e->half[1].background);
	add(&watched, &e->half[1].watched);
	return computes(&all) || is_always_busy(&watched);
}

/* Parameters for comparing reported times with turns. */
struct turn_comparison {
	bool single;  /* compare turns of single calls */
	bool matches; /* both sides repeated single calls equally often */
	double calls; /* calls of a turn, warm-up and repetitions included */
};

/* Means of the middle half of a side's calls and turns, with their variances. */
struct trimmed {
	int n, n_turns;
	double ms, ms_q, turn_ms, turn_q;
};

static struct trimmed trimmed_mean(const struct interleave_turns *s, const struct turn_comparison *how, bool with_cut)
{
	double ms[INTERLEAVE_TURNS_MAX], turn_ms[INTERLEAVE_TURNS_MAX];
	struct trimmed m = { .n = 0 };

	for (int i = 0; i < s->n; i++)
		if (with_cut || !s->cut[i]) {
			ms[m.n++] = (double)s->ms[i];
			if (!how->single)
				turn_ms[m.n_turns++] = (double)s->turn_ms[i];
		}
	for (int i = 0; i < s->single.n && how->single && how->matches; i++)
		if (with_cut || !s->single.cut[i])
			turn_ms[m.n_turns++] = (double)s->single.turn_ms[i];
	if (m.n > 0)
		stats_trimmed(ms, m.n, &m.ms, &m.ms_q);
	if (m.n_turns > 0)
		stats_trimmed(turn_ms, m.n_turns, &m.turn_ms, &m.turn_q);
	return m;
}

static struct trimmed combine_halves(const struct interleave_evidence *e, const struct turn_comparison *how, bool with_cut)
{
	struct trimmed a = trimmed_mean(&e->timed[0], how, with_cut), b = trimmed_mean(&e->timed[1], how, with_cut);
	int n = a.n + b.n, n_turns = a.n_turns + b.n_turns;
	double share = n > 0 ? (double)a.n / n : 0, rest = 1 - share;
	double turn_share = n_turns > 0 ? (double)a.n_turns / n_turns : 0, turn_rest = 1 - turn_share;

	return (struct trimmed){ .n = n,
		.n_turns = n_turns,
		.ms = share * a.ms + rest * b.ms,
		.ms_q = share * share * a.ms_q + rest * rest * b.ms_q,
		.turn_ms = turn_share * a.turn_ms + turn_rest * b.turn_ms,
		.turn_q = turn_share * turn_share * a.turn_q + turn_rest * turn_rest * b.turn_q };
}

static double claimed_ms(const struct trimmed *base, const struct trimmed *target, const struct turn_comparison *how)
{
	return (base->ms - target->ms) * how->calls;
}

static bool is_claimed(const struct trimmed *base, const struct trimmed *target, const struct turn_comparison *how)
{
	return base->n >= FEW && target->n >= FEW && target->ms <= GAIN * base->ms &&
	       claimed_ms(base, target, how) >= DETECTABLE_MS;
}

/* Return by how much too little turns became shorter to confirm the gain; below 0: more than enough. `error`: standard error. */
static double missing_ms(
	const struct trimmed *base, const struct trimmed *target, const struct turn_comparison *how, double *error)
{
	double part = CONFIRMED_SHARE * how->calls;

	*error = sqrt(base->turn_q + target->turn_q + part * part * (base->ms_q + target->ms_q));
	return CONFIRMED_SHARE * claimed_ms(base, target, how) - (base->turn_ms - target->turn_ms);
}

static bool is_unconfirmed(const struct trimmed *base, const struct trimmed *target, const struct turn_comparison *how)
{
	double error, missing = missing_ms(base, target, how, &error);

	return base->n_turns < FEW || target->n_turns < FEW || missing > -CONFIRM_K * error;
}

/* Return whether the uninterrupted turns of each half of the runs refute the gain. */
static bool is_missing(
	const struct interleave_evidence *base, const struct interleave_evidence *target, const struct turn_comparison *how)
{
	int n_base = 0, n_target = 0;

	for (int i = 0; i < INTERLEAVE_HALVES; i++) {
		struct trimmed b = trimmed_mean(&base->timed[i], how, false), t = trimmed_mean(&target->timed[i], how, false);
		double error, missing = missing_ms(&b, &t, how, &error);

		if (!is_claimed(&b, &t, how) || b.n_turns < FEW || t.n_turns < FEW || missing <= REJECT_K * error)
			return false;
		n_base += b.n_turns;
		n_target += t.n_turns;
	}
	return n_base >= ENOUGH && n_target >= ENOUGH;
}

static bool any_half(const struct interleave_evidence *e, bool chooses)
{
	return chooses ? e->timed[0].chooses || e->timed[1].chooses : e->timed[0].repeats || e->timed[1].repeats;
}

/* Return the repetitions of each call in turns of single calls; 0: no such turns, or not constant. */
static double single_repeats(const struct interleave_evidence *e)
{
	double a = e->timed[0].single.repeats, b = e->timed[1].single.repeats;

	return a < 0 || b < 0 || (a > 0 && b > 0 && a != b) ? 0 : fmax(a, b);
}

/* Write why a gain is not confirmed. */
static void explain(const struct trimmed *b, const struct trimmed *t, const struct turn_comparison *how, char *why)
{
	if (b->n_turns < FEW || t->n_turns < FEW)
		snprintf(why, INTERLEAVE_WHY_SIZE,
			"calls of %.4g instead of %.4g ms cannot be compared with the worker's clock: the programs repeat calls "
			"also if the worker requests single calls (repeats=1, see doc/interleave.md)",
			t->ms, b->ms);
	else
		snprintf(why, INTERLEAVE_WHY_SIZE,
			"calls of %.4g instead of %.4g ms should make a turn %.4g ms shorter; by the worker's clock the "
			"turn became %.4g ms %s (%.4g and %.4g ms)",
			t->ms, b->ms, claimed_ms(b, t, how), fabs(b->turn_ms - t->turn_ms),
			b->turn_ms > t->turn_ms ? "shorter" : "longer", b->turn_ms, t->turn_ms);
}

enum interleave_gain interleave_gain(
	const struct interleave_evidence *base, const struct interleave_evidence *target, int calls, char *why)
{
	bool single = any_half(base, true) && (any_half(base, false) || any_half(target, false));
	double repeats = single ? single_repeats(base) : 1;
	bool claimed = false, confirmed = false, with_cut = false;
	struct turn_comparison how = { .single = single, .calls = calls };
	struct trimmed b, t;

	how.matches = single && repeats > 0 && repeats == single_repeats(target);
	how.calls *= how.matches ? repeats : 1;
	/* first without interrupted turns, which are noisier, then with them, in case there are few others */
	for (int i = 0; i < 2; i++) {
		b = combine_halves(base, &how, i > 0);
		t = combine_halves(target, &how, i > 0);
		if (!is_claimed(&b, &t, &how))
			continue;
		claimed = true;
		with_cut = i > 0;
		confirmed = confirmed || !is_unconfirmed(&b, &t, &how);
	}
	if (!claimed || confirmed)
		return INTERLEAVE_GAIN_NONE;
	b = combine_halves(base, &how, with_cut);
	t = combine_halves(target, &how, with_cut);
	explain(&b, &t, &how, why);
	return is_missing(base, target, &how) ? INTERLEAVE_GAIN_MISSING : INTERLEAVE_GAIN_UNCONFIRMED;
}

void interleave_add_background(struct interleave_turns *s, const struct interleave_background *work, bool is_watched)
{
	add(&s->background, work);
	if (is_watched)
		add(&s->watched, work);
}

bool interleave_has_background(const struct interleave_turns *s)
{
	return s->background.s > 0 && s->background.cpu_s > WATCH_SHARE * s->background.s;
}

static double idle_us(const struct interleave_turns *s)
{
	float us[INTERLEAVE_TURNS_MAX];
	int n = 0;

	for (int i = 0; i < s->n; i++)
		if (!s->cut[i])
			us[n++] = s->idle_us[i];
	return n < FEW ? 0 : stats_median(us, n);
}

bool interleave_overlaps(const struct interleave_turns *side, const struct interleave_turns *other, char *why)
{
	if (side->background.cpu_s > BACKGROUND_CPU_S && computes(&side->background)) {
		snprintf(why, INTERLEAVE_WHY_SIZE,
			"computes while the other side has the turn: %.3g s of processor time in %.3g s", side->background.cpu_s,
			side->background.s);
		return true;
	}
	if (side->watched.cpu_s > BACKGROUND_CPU_S && is_always_busy(&side->watched)) {
		snprintf(why, INTERLEAVE_WHY_SIZE,
			"computes while the other side has the turn: %.3g s of processor time in %.3g s, and %.3g s of waiting for a core",
			side->watched.cpu_s, side->watched.s, side->watched.queued_s);
		return true;
	}
	double own_us = idle_us(side), late_us = idle_us(other);

	if (own_us <= 0 || late_us < IDLE_TIMES * own_us || late_us < own_us + IDLE_SEPARATE_US)
		return false;
	snprintf(why, INTERLEAVE_WHY_SIZE,
		"leaves work on the device: after its turns the device answers the other side after %.4g us, otherwise after "
		"%.4g us",
		late_us, own_us);
	return true;
}

void interleave_wait_begin(struct interleave_wait *w, double queued_s)
{
	w->before_s = w->is_counted ? queued_s : -1;
}

bool interleave_wait_end(struct interleave_wait *w, double queued_s, double turn_ms)
{
	double before_s = w->before_s;

	w->is_counted = true;
	w->before_s = -1;
	if (queued_s <= 0)
		return true;
	return before_s >= 0 && (queued_s - before_s) * 1e3 > QUEUED_SHARE * turn_ms;
}
