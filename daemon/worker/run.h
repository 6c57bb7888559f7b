/**
 * run.h - one process of a benchmark program: its run in the sandbox and its parsed output.
 *
 * Old outputs are removed first, so every output was written by this process.
 */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "readers/reading.h"
#include "worker/bench.h"
#include "worker/sandbox/build.h"
#include "worker/interleave_list.h"

/** Why a process gave no times. */
struct command_failure {
	char failure[16]; /* "crash" "timeout" "abi" (its output cannot be read) */
	char detail[512];
};

struct command_clock {
	int process; /* number of earlier processes of its run */
	double mhz;  /* 0: unknown */
};

/**
 * Run subject `s` once. Returns 1: `out` holds its output (own: reading_fini); 0: its own fault, see `problem`; -1: cancelled,
 * or an error of the worker. Adds its wall time to the bench. With a `list` (else NULL) it may be interleaved; if it is, `out`
 * holds its list. `clock` (else NULL) receives its clock.
 */
int command_run(struct bench *b, const struct build_context *c, const struct msg_subject *s, struct interleave_list *list,
	struct command_clock *clock, struct reading *out, struct command_failure *problem, struct fw_err *err);

#endif
