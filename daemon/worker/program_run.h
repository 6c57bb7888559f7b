/**
 * process_run.h - one run of benchmark programs: two rounds of processes, the second in the opposite order, with device
 * readings around each round on a GPU.
 */
#ifndef WORKER_PROGRAM_RUN_H
#define WORKER_PROGRAM_RUN_H

#include "worker/bench.h"
#include "worker/sandbox/build.h"
#include "worker/run.h"

enum { COMMAND_BASE, COMMAND_TARGET, COMMAND_REFERENCE, COMMAND_SIDES_MAX };

/** Calls of a cell in whole processes, and the number excluded as warm-up. */
struct command_settled {
	int calls, cut;
};

struct command {
	struct bench *bench;
	const struct build_context *build;
	int n_sides; /* 3 with a reference commit that runs */
	const struct msg_subject *side[COMMAND_SIDES_MAX];
	struct interleave_list list[COMMAND_SIDES_MAX]; /* each interleaved program's list from its first run */
	struct command_settled *settled;                /* settled[n_cells] while whole processes are measured, else NULL */
};

/** Find the sides of a job; a reference commit only if it was built. Own: the job's. Err: base or target is missing. */
int command_open(struct command *m, const struct msg_job *request, struct fw_err *err);
int command_report(struct command *m, int side, const char *step, struct fw_err *err);
int command_announce(struct command *m, const int *list, int n, int set, uint64_t seed, struct fw_err *err);
/** Continue without the reference commit, with a note of the reason. Does nothing if it is excluded already. */
int command_drop_reference(struct command *m, const char *why, struct fw_err *err);
/** Report a side's process without times as its fault. A failed reference commit is excluded from then on. */
int command_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err);
/**
 * Check whether a side's reading has a time for a cell. Returns 1 yes; 0 no, and its fault is reported: the benchmark's own
 * message, else that it was left out, else that it is missing, which has class `absent`. Err: -1 cancelled.
 */
int command_timed(struct command *m, int side, int cell, const struct reading *r, const char *absent, struct fw_err *err);
/**
 * Make one run over the `n` listed cells and judge them. A round discarded by the device readings is repeated, up to three
 * times and while budget is left; if it stays discarded, the run is. Err: -1 cancelled, or an error of the worker.
 */
int command_process_run(struct command *m, const int *list, int n, int set, struct fw_err *err);

#endif
