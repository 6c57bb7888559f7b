/**
 * process_run.h - one run of programs of their own: two rounds of processes, the second in the opposite order, with readings of
 * the device around each round where they use the GPU.
 */
#ifndef WORKER_COMMAND_PROCESS_RUN_H
#define WORKER_COMMAND_PROCESS_RUN_H

#include "worker/bench/bench.h"
#include "worker/build/build.h"
#include "worker/command/run.h"

enum { COMMAND_BASE, COMMAND_TARGET, COMMAND_REFERENCE, COMMAND_SIDES_MAX };

/** Calls of a cell in whole processes, and how many of them were left out because their process had not settled yet. */
struct command_settled {
	int calls, cut;
};

/** What runs in turns. */
struct command {
	struct bench *bench;
	const struct build_context *build;
	int n_sides; /* 3 with a reference commit that runs */
	const struct msg_subject *side[COMMAND_SIDES_MAX];
	struct interleave_list list[COMMAND_SIDES_MAX]; /* what each told when it first ran, where it takes turns */
	struct command_settled *settled;                /* settled[n_cells] while whole processes are measured, else NULL */
};

/** Find the sides of a job; a reference commit only where it was built. Own: the job's. Err: base or target is missing. */
int command_open(struct command *m, const struct msg_job *ask, struct fw_err *err);
/** Tell the daemon which side runs now. */
int command_tell(struct command *m, int side, const char *step, struct fw_err *err);
/** Tell the daemon of a run over the `n` listed cells. */
int command_announce(struct command *m, const int *list, int n, int set, uint64_t seed, struct fw_err *err);
/** Go on without the reference commit, and note why. Nothing where it takes no part any more. */
int command_drop_reference(struct command *m, const char *why, struct fw_err *err);
/** A side's process gave no times: its fault. A reference commit that has one takes no further part. */
int command_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err);
/**
 * Whether a side's reading has a time for a cell. 1; 0: no, and its fault is told: what the benchmark itself says of the row, else
 * that it is left out, else that it is not written at all, which is of class `absent`. Err: -1 cancelled.
 */
int command_timed(struct command *m, int side, int cell, const struct reading *r, const char *absent, struct fw_err *err);
/**
 * One run over the `n` listed cells, judged afterwards. A round whose times the readings of the device make void is taken again, up to
 * three times and while budget is left; one that stays void makes the run void. Err: -1 cancelled, or a fault of ours.
 */
int command_process_run(struct command *m, const int *list, int n, int set, struct fw_err *err);

#endif
