/**
 * interleave_session.h - programs alive at the same time, of which one at a time makes its calls: a session of turns over some cells.
 *
 * Every cell waits until all sides have come to it; then pairs A B B A B A A B. A program that dies, does not come back or breaks the
 * rules ends the session; what was paired before stands.
 */
#ifndef WORKER_COMMAND_INTERLEAVE_SESSION_H
#define WORKER_COMMAND_INTERLEAVE_SESSION_H

#include "core/protocol/sustained.h"
#include "core/interleave/plan.h"
#include "core/interleave/trust.h"
#include "worker/command/process_run.h"
#include "worker/command/interleave_child.h"

/** One sustained run as it comes: every `stride`-th of its `n` calls is kept. */
struct interleave_sustained {
	int n, stride;
	struct sustained_calls *calls;
};

/** One cell of a session: what is asked, and what came. Shape: by side. */
struct interleave_cell {
	int cell; /* of the bench */
	const char *key;
	int warm, pairs;
	double alone_ms;      /* of a call, about */
	double budget_ms;     /* beyond twice that fewer pairs are enough: the machine is busy */
	int sustained_rounds; /* 0: no sustained runs */
	/* what came */
	bool reached, missed; /* all came to it; a side did not */
	int n, cut, untimed;  /* pairs; those that were taken again, because a call was interrupted, or has no time */
	float ms[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX], mhz[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX],
		host_us[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX];
	struct interleave_seen seen[INTERLEAVE_SIDES_MAX];
	int n_sustained, sustained_first; /* calls of a side; the side that began */
	struct sustained_side sustained_run[2];
	int failed_side; /* -1 none */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE];
	int interleave;                   /* of all pairs, those that were taken again too: */
	double interleave_s, calls_s;     /* how long, and what their calls are said to have taken */
	double pairs_s, sustained_runs_s; /* what pairs and sustained runs took of the session */
};

struct interleave_session {
	struct bench *bench;
	const struct build_context *build;
	int n_sides;
	const struct msg_subject *subject[INTERLEAVE_SIDES_MAX];
	int n;
	int first;         /* the side that begins */
	bool target_first; /* of sustained runs, the target does */
	uint64_t seed;     /* of the run */
	struct interleave_cell *cell;
	/* how it went */
	int failure_side, failure_cell; /* who ended it, -1 nobody; with the turn of which cell of the bench, -1 none */
	struct command_failure problem;
	bool no_room; /* together they do not fit on the device */
	double all_s; /* how long it took */
	/* internal */
	struct interleave_child child[INTERLEAVE_SIDES_MAX];
	struct {
		int side, n, cut;
		int64_t done_ns;
		float ms, mhz, host_us; /* of the last call */
		double sum_ms, repeats, idle_us, all_s;
	} turn;
	struct interleave_sustained *sustained_run; /* that calls are kept of; NULL none */
	struct interleave_cell *at;                 /* the cell whose turns are given; NULL none */
	bool is_pinned;
	struct interleave_wait wait[INTERLEAVE_SIDES_MAX]; /* of the turn of a side */
};

/** The side whose turn is k-th in a pair: as calls of modules go (order.h). */
int interleave_session_side(const struct interleave_session *s, int pair, int k);
/** Run it. Adds its wall time to the bench. Err: cancelled, or a fault of ours or the machine's. */
int interleave_session_run(struct interleave_session *s, struct fw_err *err);

#endif
