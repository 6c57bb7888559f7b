/**
 * trust.h - comparison of a program's reports with the worker's observation of its turns. Pure.
 *
 * A turn is never shorter than the work in it, however busy the machine. But one session on a busy machine can show anything,
 * so an accusation takes two runs that show the same.
 */
#ifndef PROTOCOL_TRUST_H
#define PROTOCOL_TRUST_H

#include <stdbool.h>
#include <stddef.h>

enum { INTERLEAVE_SEEN_MAX = 160, INTERLEAVE_SINGLE_MAX = 64, INTERLEAVE_WHY_SIZE = 300 };

/** The last turns of one side in one cell of a session. Shape: rings; idle_us 0: not reported. */
struct interleave_seen {
	int n, next;
	float ms[INTERLEAVE_SEEN_MAX];      /* as reported */
	float turn_ms[INTERLEAVE_SEEN_MAX]; /* from go to done, by the worker's clock */
	float idle_us[INTERLEAVE_SEEN_MAX];
	bool cut[INTERLEAVE_SEEN_MAX]; /* another process took the processor during it */
	bool chooses, repeats;         /* it reports repetitions; it repeated a call */
	struct interleave_single {     /* last turns in which the worker requested single calls */
		int n, next;
		double repeats; /* repetitions of each call all the same; 0: no turn yet, below 0: not constant */
		float turn_ms[INTERLEAVE_SINGLE_MAX];
		bool cut[INTERLEAVE_SINGLE_MAX];
	} single;
	int too_long;             /* turns with reported calls longer than the turn, */
	double said_ms, lived_ms; /* and the reported and actual time of the worst of them */
	struct interleave_rest {
		double s;        /* length of the turns of others, */
		double cpu_s;    /* its processor time in them, */
		double queued_s; /* and the time that its threads waited for a core; 0 if not read */
	} rest, watched;         /* all of them; those with a read queue */
};

/** One turn of one timed call, or of `repeats` calls with mean `ms`. */
struct interleave_one {
	double ms, turn_ms, idle_us;
	double repeats; /* 0: the program does not choose */
	bool cut;       /* another process took the processor during it */
};
void interleave_see(struct interleave_seen *s, const struct interleave_one *turn);
/**
 * Record a turn with requested single calls: its length shows the length of a call of a program that otherwise repeats calls.
 */
void interleave_see_single(struct interleave_seen *s, const struct interleave_one *turn);
/** Record a turn of another kind with `ms` reported for all calls: it shows only impossible times. */
void interleave_bound(struct interleave_seen *s, double ms, double turn_ms);

/**
 * Return whether a session reports calls longer than they can have been, with `why` as text. Shape: why[INTERLEAVE_WHY_SIZE].
 */
bool interleave_overstates(const struct interleave_seen *s, char *why);

enum { INTERLEAVE_HALVES = 2 };

/** One side in one cell over all runs: sums over even and odd sessions. Starts zeroed. */
struct interleave_evidence {
	struct interleave_seen half[INTERLEAVE_HALVES]; /* of all sessions */
	int sessions;
	struct interleave_seen timed[INTERLEAVE_HALVES]; /* of those whose times count */
	int timed_sessions;
};

void interleave_evidence_add(struct interleave_evidence *e, const struct interleave_seen *s);
/** Add a session whose times count, for interleave_gain. */
void interleave_evidence_add_times(struct interleave_evidence *e, const struct interleave_seen *s);
/**
 * Return the failure class, "clock" or "escaped", if each half of the runs alone shows interleave_overstates or
 * interleave_goes_on; both need not show the same. NULL: not.
 */
const char *interleave_is_caught(const struct interleave_evidence *side, const struct interleave_evidence *other, char *why);
/** Return whether it computes in others' turns enough to be accused if those had lasted longer. */
bool interleave_may_go_on(const struct interleave_evidence *e);

/** Result of the worker's clock for a gain of the target. */
enum interleave_gain {
	INTERLEAVE_GAIN_NONE,    /* confirmed, or no audible gain is reported */
	INTERLEAVE_GAIN_UNHEARD, /* not confirmed, without an accusation */
	INTERLEAVE_GAIN_MISSING  /* it does not exist */
};
/**
 * Test a reported gain of the target of 20 % or more by the worker's clock: turns of `calls` calls each, warm-up included, must
 * shrink by half of it, plus two standard errors. Changes too small against a turn's own cost are accepted. If the base chooses
 * its repetitions, and a side does repeat, turns of single calls must shrink instead; without such turns, or with unequal
 * repetitions in them, no gain is confirmed. If the base does not choose, the target may not. Both are means of the middle
 * half, as in a verdict, so a few calls with a wrong time do not matter. A gain is missing only if at least 20 uninterrupted
 * turns a side, and both halves of the runs alone, show by three standard errors that turns did not shrink by half of it. `why`
 * has the text unless INTERLEAVE_GAIN_NONE. Shape: why[INTERLEAVE_WHY_SIZE].
 */
enum interleave_gain interleave_gain(
	const struct interleave_evidence *base, const struct interleave_evidence *target, int calls, char *why);
/** Record the work of a side in a turn of another one. `is_watched`: its run queue was read. */
void interleave_rest_note(struct interleave_seen *s, const struct interleave_rest *rest, bool is_watched);
/** Return whether a side uses enough of others' turns to read its run queue, which takes a read per thread. */
bool interleave_is_restless(const struct interleave_seen *s);
/**
 * Return whether a side computes while the other one has the turn: by its processor time, or by a device that answers the other
 * one late. On a busy machine a thread that never rests gets little of a core and waits for one the rest of the time; both
 * together reveal it.
 */
bool interleave_goes_on(const struct interleave_seen *side, const struct interleave_seen *other, char *why);

/**
 * Time for which the threads of a side wait for a core, by the system's counter: it confirms or refutes a reported interrupt.
 * It is read only for a side that has reported one before. Starts zeroed.
 */
struct interleave_wait {
	bool is_counted; /* the side has reported an interrupt before */
	double before_s; /* counter at the start of the turn; below 0: not read */
};
/** Start of a turn. `queued_s`: the counter; unused unless is_counted. */
void interleave_wait_begin(struct interleave_wait *w, double queued_s);
/**
 * End of a turn with a reported interrupt: return whether the threads waited that long within it. A turn without a reading at
 * its start does not count as interrupted; if the system does not count (`queued_s` 0), the report is accepted. Units:
 * `turn_ms` of the turn.
 */
bool interleave_wait_end(struct interleave_wait *w, double queued_s, double turn_ms);

#endif
