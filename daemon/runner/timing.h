/**
 * timing.h - passes of interleaved timed calls over the subjects of one cell.
 *
 * In each round every subject calls once. Order: rounds go AB, BA, BA, AB, AB, BA, ...; the beginning side alternates from run
 * to run. With more subjects the list rotates by one every second round, and every other round runs it backwards, so that any
 * drift linear over two rounds cancels. Every call is cold: different inputs, outputs filled with a random byte, cache
 * overwritten. Of each subject two random calls of a pass that may decide, and the last one, are watched (spot_check.h); of two
 * more only the results are checked, later. They are made like all others.
 */
#ifndef RUNNER_TIMING_H
#define RUNNER_TIMING_H

#include "runner/runner.h"
#include "runner/spot_check.h"

struct timing {
	struct runner *runner;
	struct problem *problem;
	int cell; /* position in run->cell */
	int n;    /* subjects that are timed, planned and bound */
	struct subject *subject[PROTOCOL_SUBJECTS_MAX];
	int start;         /* subject that begins round 0 */
	bool target_first; /* the target begins sustained runs */
	double pair_ms;    /* device time of one round: of the solo calls, then of the last warm-up round */
	struct spot_check *spot_check;
	struct subject *culprit; /* whose failure ended a pass; NULL: unknown */
};

/** Calls in flight: two hide the host, more only deepen the queue. */
enum { TIMING_AHEAD = 6 };

/** One series in progress. Shape: [subject][round]. */
struct samples {
	float ms[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float mhz[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float host_us[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
};

/** Return the rounds that the rule's budget allows for a round of `round_ms`: a multiple of 4 within the rule's limits. */
int timing_rounds(const struct rule *r, double round_ms, int n_subjects, const struct device_ops *ops);

/**
 * Make unrecorded rounds, at the cell's own duty cycle, until `until_us` of the device's host clock. At least one unless the
 * cell is long.
 */
int timing_warm(struct timing *t, double until_us, struct failure *f);
/** Time series device: `rounds` rounds with at least two calls queued ahead, between device readings. Writes one record. */
int timing_device(struct timing *t, int rounds, struct failure *f);
/** How whole calls are timed: all watched; or some, between device readings, as for times that decide. */
enum { TIMING_WATCHED = 1, TIMING_DECIDES = 2 };
/**
 * Time series call: stream idle, host clock around bind, enqueue and wait, the SM clock between stamps outside of that. Writes
 * one record.
 */
int timing_call(struct timing *t, int rounds, unsigned how, struct failure *f);
/**
 * Time series phase: the phases of the call's time one by one between marks, minus an empty pair of marks. Writes one record a
 * phase.
 */
int timing_phase(struct timing *t, int rounds, struct failure *f);

/** Prepare a call before its time begins. A subject that only lets time pass touches no buffer. */
int timing_cold(struct timing *t, struct subject *u, struct failure *f);
/** Begin a call's range for profilers; range_end ends it. */
void timing_range(const struct timing *t, const struct subject *u, int call);
/** Report the step before each call if calls die at once; with a queue that would cost time and blame the wrong call. */
void timing_report_at(struct timing *t, const struct subject *u, const char *step);
/** Check after a call and its marks that the process state is unchanged. Returns -1 with `f`, and t->culprit. */
int timing_leave(struct timing *t, struct subject *u, struct failure *f);
/**
 * Rounds of a subject's watched calls: one in each half of a pass, and the last; and further ones in each half, whose results
 * are checked after the pass.
 */
struct timing_watch {
	int round[PROTOCOL_SUBJECTS_MAX][2], last, later[PROTOCOL_SUBJECTS_MAX][2];
};
void timing_choose_watched(struct timing *t, int rounds, struct timing_watch *out);
bool timing_is_watched(const struct timing *t, const struct timing_watch *w, int who, int round);
/** Return which of the two later checks this call has; it then has the known inputs. -1 none. */
int timing_later_before(struct timing *t, const struct timing_watch *w, int who, int round);
/** Copy the results after that call and its marks. Returns -1 with `f`, and t->culprit. */
int timing_later_after(struct timing *t, struct subject *u, int k, struct failure *f);
int timing_later_look(struct timing *t, struct failure *f);
/** Finish a watched call. `when` precedes the message. Returns -1 with `f`, and t->culprit. */
int timing_look(struct timing *t, struct subject *u, const char *when, struct failure *f);
/** Make one cold call, between marks 2c and 2c + 1 and in stamp c; `host_us` receives the host's time of enqueue. */
int timing_one(struct timing *t, struct subject *u, int c, float *host_us, struct failure *f);
struct timing_pass {
	int rounds, redo; /* discarded passes before this one */
	unsigned how;     /* of series call */
	struct msg_device_check device_check;
};
typedef int timing_pass_fn(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f);
/**
 * Make a pass, with the first reading; repeat it while readings discard it, three times at most. A discarded result is marked
 * in p->device_check.
 */
int timing_guarded(struct timing *t, timing_pass_fn *run, struct timing_pass *p, struct samples *x, struct failure *f);
/** Return the time, or the least positive one if it rounds to zero. */
float timing_at_least(float ms);
void timing_begin_record(const struct timing *t, struct msg_cell *m, enum series series, const char *phase, int rounds);
/** Write m->order: subjects of the record, in its own numbering. `number[r]` -1: subject r is not in it. */
void timing_write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds);
void timing_write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us);
/** Return -1 with `f` if a reading showed that the device's context is gone. */
int timing_lost(struct timing *t, struct failure *f);

#endif
