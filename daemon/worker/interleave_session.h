/**
 * interleave_session.h - a session of concurrent programs over some cells, in which one program at a time makes its calls.
 *
 * Every cell waits until all sides have reached it; then pairs A B B A B A A B follow. A program that dies, does not return or
 * breaks the protocol ends the session; earlier pairs stay valid.
 */
#ifndef WORKER_INTERLEAVE_SESSION_H
#define WORKER_INTERLEAVE_SESSION_H

#include "protocol/sustained.h"
#include "protocol/plan.h"
#include "protocol/trust.h"
#include "worker/program_run.h"
#include "worker/interleave_child.h"

/** A sustained run in progress: every `stride`-th of its `n` calls is stored. */
struct interleave_sustained {
	int n, stride;
	struct sustained_calls *calls;
};

/** One cell of a session: parameters and results. Shape: by side. */
struct interleave_cell {
	int cell; /* of the bench */
	const char *key;
	int warm, pairs;
	double alone_ms;      /* estimate of a call */
	double budget_ms;     /* beyond twice that fewer pairs are enough: the machine is busy */
	int sustained_rounds; /* 0: no sustained runs */
	/* results */
	bool reached, missed; /* all sides reached it; a side did not */
	int n, cut, untimed;  /* pairs; pairs repeated because of an interrupt, or of a missing time */
	float ms[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX], mhz[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX],
		host_us[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX];
	struct interleave_seen seen[INTERLEAVE_SIDES_MAX];
	int n_sustained, sustained_first; /* calls of a side; the side that began */
	struct sustained_side sustained_run[2];
	int failed_side; /* -1 none */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE];
	int interleave;                   /* of all pairs, repeated ones included: */
	double interleave_s, calls_s;     /* their duration, and the reported time of their calls */
	double pairs_s, sustained_runs_s; /* session time of pairs and sustained runs */
};

struct interleave_session {
	struct bench *bench;
	const struct build_context *build;
	int n_sides;
	const struct msg_subject *subject[INTERLEAVE_SIDES_MAX];
	int n;
	int first;         /* the side that begins */
	bool target_first; /* the target begins sustained runs */
	uint64_t seed;     /* of the run */
	struct interleave_cell *cell;
	/* outcome */
	int failure_side, failure_cell; /* side that ended it, -1 none; cell of the bench in whose turn, -1 none */
	struct command_failure problem;
	bool no_room; /* the sides do not fit on the device together */
	double all_s; /* its duration */
	/* internal */
	struct interleave_child child[INTERLEAVE_SIDES_MAX];
	struct {
		int side, n, cut;
		int64_t done_ns;
		float ms, mhz, host_us; /* of the last call */
		double sum_ms, repeats, idle_us, all_s;
	} turn;
	struct interleave_sustained *sustained_run; /* receives calls; NULL none */
	struct interleave_cell *at;                 /* current cell; NULL none */
	bool is_pinned;
	struct interleave_wait wait[INTERLEAVE_SIDES_MAX]; /* of the turn of a side */
};

/** Return the side of turn k in a pair, ordered as calls of modules (order.h). */
int interleave_session_side(const struct interleave_session *s, int pair, int k);
/** Run it. Adds its wall time to the bench. Err: cancelled, or an error of the worker or the machine. */
int interleave_session_run(struct interleave_session *s, struct fw_err *err);

#endif
