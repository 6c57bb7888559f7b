/**
 * run.h - one process of a benchmark that is a program of its own: run in its sandbox, its output read.
 *
 * Old outputs are removed first, so that what is read was written by this process.
 */
#ifndef WORKER_COMMAND_RUN_H
#define WORKER_COMMAND_RUN_H

#include "core/reading/reading.h"
#include "worker/bench/bench.h"
#include "worker/build/build.h"
#include "worker/command/interleave_list.h"

/** Why a process gave no times. */
struct command_failure {
	char failure[16]; /* "crash" "timeout" "abi" (its output cannot be read) */
	char detail[512];
};

/** The clock that a process ran at. */
struct command_clock {
	int process; /* how many of its run came before */
	double mhz;  /* 0: not known */
};

/**
 * Run subject `s` once. 1: `out` holds what it wrote (own: reading_fini); 0: its own fault, told in `trouble`; -1: cancelled, or a
 * fault of ours. Adds its wall time to the bench. With a `list` (else NULL) it is offered turns: where it takes them, `out` is what it told there.
 * `clock` (else NULL) gets the clock that it ran at.
 */
int command_run(struct bench *b, const struct build_context *c, const struct msg_subject *s, struct interleave_list *list,
	struct command_clock *clock, struct reading *out, struct command_failure *problem, struct fw_err *err);

#endif
