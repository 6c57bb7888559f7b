/**
 * trust.h - what a program says of its calls, held against what the worker saw of its turns. Pure.
 *
 * A turn is never shorter than what was done in it, however busy the machine. But one session on a busy machine can look like anything, so
 * nothing that a single session shows accuses a program for good: an accusation takes two runs that show the same.
 */
#ifndef CORE_INTERLEAVE_TRUST_H
#define CORE_INTERLEAVE_TRUST_H

#include <stdbool.h>
#include <stddef.h>

enum { INTERLEAVE_SEEN_MAX = 160, INTERLEAVE_SINGLE_MAX = 64, INTERLEAVE_WHY_SIZE = 300 };

/** The last turns of one side in one cell of a session: nobody is seen in the first ones alone. Shape: rings; idle_us 0: not told. */
struct interleave_seen {
	int n, next;
	float ms[INTERLEAVE_SEEN_MAX];      /* as it says */
	float turn_ms[INTERLEAVE_SEEN_MAX]; /* from go to done, by the worker's clock */
	float idle_us[INTERLEAVE_SEEN_MAX];
	bool cut[INTERLEAVE_SEEN_MAX]; /* something else took the processor in it */
	bool chooses, repeats;         /* it tells how often it repeats its calls; it repeated one */
	struct interleave_single {     /* the last turns in which the worker asked for single calls */
		int n, next;
		double repeats; /* how often each call was repeated all the same; 0: no turn yet, below 0: not always as often */
		float turn_ms[INTERLEAVE_SINGLE_MAX];
		bool cut[INTERLEAVE_SINGLE_MAX];
	} single;
	int too_long;             /* turns in which calls are said to take longer than the turn, */
	double said_ms, lived_ms; /* and what they said and were, of the worst of them */
	struct interleave_rest {
		double s;        /* how long the turns of others were, */
		double cpu_s;    /* processor time that it used in them, */
		double queued_s; /* and time that its threads waited for a core; 0 where nobody looked */
	} rest, watched;         /* all of them; those in which the queue was looked at */
};

/** One turn of one timed call, or of so many that the program chose to make, of `ms` in the mean. */
struct interleave_one {
	double ms, turn_ms, idle_us;
	double repeats; /* 0: the program does not choose */
	bool cut;       /* something else took the processor in it */
};
/** Note such a turn. */
void interleave_see(struct interleave_seen *s, const struct interleave_one *turn);
/** Note a turn in which the worker asked for single calls: its length tells how long a call of a program is that otherwise repeats its calls. */
void interleave_see_single(struct interleave_seen *s, const struct interleave_one *turn);
/** Note a turn of another kind, whose calls are said to have taken `ms` together: it shows only what is impossible. */
void interleave_bound(struct interleave_seen *s, double ms, double turn_ms);

/** Whether calls of a session are said to have taken longer than they can have. `why` in words. Shape: why[INTERLEAVE_WHY_SIZE]. */
bool interleave_overstates(const struct interleave_seen *s, char *why);

enum { INTERLEAVE_HALVES = 2 };

/** One side in one cell over all runs: the sum of every second session, and of the others. Starts zeroed. */
struct interleave_evidence {
	struct interleave_seen half[INTERLEAVE_HALVES]; /* of all sessions */
	int sessions;
	struct interleave_seen timed[INTERLEAVE_HALVES]; /* of those whose times make the verdict */
	int timed_sessions;
};

/** Add a session. */
void interleave_evidence_add(struct interleave_evidence *e, const struct interleave_seen *s);
/** Add a session whose times make the verdict, for interleave_gain: times that do not count say nothing about a gain. */
void interleave_evidence_add_times(struct interleave_evidence *e, const struct interleave_seen *s);
/**
 * Whether each half of the runs for itself shows interleave_overstates or interleave_goes_on; both halves need not show the same. Returns the class
 * of the failure, "clock" or "escaped"; NULL: they do not.
 */
const char *interleave_is_caught(const struct interleave_evidence *side, const struct interleave_evidence *other, char *why);
/** Whether it computes in others' turns so much that it would be accused, had they lasted longer. */
bool interleave_may_go_on(const struct interleave_evidence *e);

/** What the worker's clock says of a gain of the target. */
enum interleave_gain {
	INTERLEAVE_GAIN_NONE,    /* it is there, or none that could be heard is claimed */
	INTERLEAVE_GAIN_UNHEARD, /* the clock does not confirm it, which accuses nobody yet */
	INTERLEAVE_GAIN_MISSING  /* it is not there */
};
/**
 * Whether a gain of the target, by 20 % or more as both sides tell it, is there by the worker's clock: turns of `calls` calls each, warm ones
 * included, have to become shorter by half of it, and by two standard errors more. Changes too small to be seen beside a turn's own cost are
 * believed. Where the base chooses how often it repeats a call, and a side does repeat, turns of single calls have to become shorter instead;
 * without such turns, or where the sides repeat differently in them, no gain is heard. Where the base does not choose, the target may not.
 * Both are taken as the mean of the middle half, which is what a verdict is made of, so that a few calls with a wrong time count for nothing. A
 * gain is missing only where at least 20 turns a side that nothing cut short, and both halves of the runs for themselves, show by three
 * standard errors that turns have not become shorter by half of it.
 * `why` in words but for INTERLEAVE_GAIN_NONE. Shape: why[INTERLEAVE_WHY_SIZE].
 */
enum interleave_gain interleave_gain(
	const struct interleave_evidence *base, const struct interleave_evidence *target, int calls, char *why);
/** Note what a side did in a turn of another one. `is_watched`: its queue was looked at. */
void interleave_rest_note(struct interleave_seen *s, const struct interleave_rest *rest, bool is_watched);
/** Whether a side uses so much of others' turns that its queue is worth a look: that costs a read for each of its threads. */
bool interleave_is_restless(const struct interleave_seen *s);
/**
 * Whether a side computed on while the other one had the turn: its processor time, or a device that answers the other one late. On a busy machine a
 * thread that never rests gets little of a core and waits for one all the rest of the time; both together give it away.
 */
bool interleave_goes_on(const struct interleave_seen *side, const struct interleave_seen *other, char *why);

/**
 * How long the threads of a side wait for a core, as far as the system counts it: a program may say that a call was interrupted, and the
 * counter confirms that or not. The counter is only read for a side that has said so before. Starts zeroed.
 */
struct interleave_wait {
	bool is_counted; /* the side has said once that a call was interrupted */
	double before_s; /* the counter at the beginning of the turn; below 0: not read */
};
/** At the beginning of a turn. `queued_s`: the counter; not used unless is_counted. */
void interleave_wait_begin(struct interleave_wait *w, double queued_s);
/**
 * At the end of a turn of which the program says that something interrupted it: whether the threads waited that long within this turn. A turn
 * at whose beginning the counter was not read does not count as interrupted; where the system does not count (`queued_s` 0), the program is
 * believed. Units: `turn_ms` of the turn.
 */
bool interleave_wait_end(struct interleave_wait *w, double queued_s, double turn_ms);

#endif
