/**
 * timing.h - passes of timed calls over the subjects of one cell, interleaved.
 *
 * Round j lets every subject call once. Order: rounds go AB, BA, BA, AB, AB, BA, ... who begins turns from run to run; with
 * more subjects the list turns by one every second round and every other round runs it backwards, so that each drift that is linear over
 * two rounds cancels. Every call is cold: inputs of its own, outputs filled with a random byte, cache written
 * over. Of each subject two calls of a pass whose times may decide, at random, are watched (spot_check.h), and the last one; of two more only
 * the results are looked at, later. They are made as all others of the pass are.
 */
#ifndef RUNNER_TIMING_TIMING_H
#define RUNNER_TIMING_TIMING_H

#include "runner/call/runner.h"
#include "runner/call/spot_check.h"

struct timing {
	struct runner *runner;
	struct problem *problem;
	int cell; /* place in run->cell */
	int n;    /* subjects that are timed, planned and bound */
	struct subject *subject[PROTOCOL_SUBJECTS_MAX];
	int start;         /* who begins round 0 */
	bool target_first; /* who begins sustained runs */
	double pair_ms;    /* device time of one round: of the solo calls, then of the last warm-up round */
	struct spot_check *spot_check;
	struct subject *culprit; /* whose failure ended a pass; NULL: not known */
};

/** Calls in flight: two hide the host, more only deepen the queue. */
enum { TIMING_AHEAD = 6 };

/** One series being collected. Shape: [subject][round]. */
struct samples {
	float ms[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float mhz[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float host_us[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
};

/** Rounds that the rule's budget allows for a round of `round_ms`: a multiple of 4 within the rule's limits. */
int timing_rounds(const struct rule *r, double round_ms, int n_subjects, const struct device_ops *ops);

/** Rounds that are not recorded, at the cell's own duty cycle, until `until_us` of the device's host clock. At least one unless the cell is long. */
int timing_warm(struct timing *t, double until_us, struct failure *f);
/** Series device: `rounds` rounds with at least two calls queued ahead, guarded. Writes one record. */
int timing_device(struct timing *t, int rounds, struct failure *f);
/** How whole calls are timed: every one of them watched; or some, and between readings of the device, as times are that decide. */
enum { TIMING_WATCHED = 1, TIMING_DECIDES = 2 };
/** Series call: stream idle, host clock around bind, enqueue and wait, the SM clock between stamps outside of that. Writes one record. */
int timing_call(struct timing *t, int rounds, unsigned how, struct failure *f);
/** Series phase: the phases of the call's time one by one between marks, an empty pair of marks subtracted. Writes one record a phase. */
int timing_phase(struct timing *t, int rounds, struct failure *f);

/* What every pass is made of. */

/** Everything of a call before its time begins. A subject that only lets time pass touches no buffer. */
int timing_cold(struct timing *t, struct subject *u, struct failure *f);
/** Begin a call's range for profilers, which range_end ends. */
void timing_range(const struct timing *t, const struct subject *u, int call);
/** Where a call dies at once, say so before each; on a queue it would only cost time and blame the wrong one. */
void timing_say_at(struct timing *t, const struct subject *u, const char *step);
/** After a call and its marks: the process is as it was before. -1 with `f`, and t->culprit. */
int timing_leave(struct timing *t, struct subject *u, struct failure *f);
/**
 * The rounds in which a subject's call is watched: one in each half of a pass, and the last; and further ones in each half, whose results
 * are looked at when the pass is over.
 */
struct timing_watch {
	int round[PROTOCOL_SUBJECTS_MAX][2], last, later[PROTOCOL_SUBJECTS_MAX][2];
};
void timing_choose_watched(struct timing *t, int rounds, struct timing_watch *out);
bool timing_is_watched(const struct timing *t, const struct timing_watch *w, int who, int round);
/** Which of the two that are looked at later, if it is one: then the call has the known inputs. -1 none. */
int timing_later_before(struct timing *t, const struct timing_watch *w, int who, int round);
/** After that call and its marks. -1 with `f`, and t->culprit. */
int timing_later_after(struct timing *t, struct subject *u, int k, struct failure *f);
/** Look at all of them. -1 with `f`, and t->culprit. */
int timing_later_look(struct timing *t, struct failure *f);
/** The end of a watched call. -1 with `f`, and t->culprit. `when` goes in front of what is wrong. */
int timing_look(struct timing *t, struct subject *u, const char *when, struct failure *f);
/** One cold call, between marks 2c and 2c + 1 and in stamp c; `host_us` gets the host's time of enqueue. */
int timing_one(struct timing *t, struct subject *u, int c, float *host_us, struct failure *f);
/** One pass over all rounds, and the readings of the device around it. */
struct timing_pass {
	int rounds, redo; /* passes before this one that readings made void */
	unsigned how;     /* of series call */
	struct msg_device_check device_check;
};
typedef int timing_pass_fn(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f);
/** A pass, which takes the first reading itself; again while the readings make it void, three times at most: what is void then says so in p->guard. */
int timing_guarded(struct timing *t, timing_pass_fn *run, struct timing_pass *p, struct samples *x, struct failure *f);
/** A time that is one: what rounds to nothing becomes the least there is. */
float timing_at_least(float ms);
/** Fill what every record of this cell has. */
void timing_begin_record(const struct timing *t, struct msg_cell *m, enum series series, const char *phase, int rounds);
/** Letters of m->order: subjects of the record, in its own numbering. `number[r]` -1: subject r is not in it. */
void timing_write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds);
/** A begun record of all subjects. */
void timing_write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us);
/** -1 with `f` when a reading has shown that the device's context is gone. */
int timing_lost(struct timing *t, struct failure *f);

#endif
