/** turns_record.h - what a session brought for a cell: whether it is believed, and the records that it becomes. */
#ifndef WORKER_COMMAND_TURNS_RECORD_H
#define WORKER_COMMAND_TURNS_RECORD_H

#include "worker/command/launch.h"
#include "worker/command/turns_session.h"

enum turns_belief {
	TURNS_ERROR = -1,
	TURNS_FAULTY,        /* the cell has its fault, which was sent */
	TURNS_BELIEVED,      /* its times are to be recorded */
	TURNS_REFERENCE_FAULTY, /* the pairs beside the reference commit are no good: base and target have to be paired without it */
	TURNS_DOUBTED /* a side did what cannot be, for the first time: its times count for nothing, and another session tells */
};
/**
 * Hold what all sides say against what was seen of them, in this session and before. `why` in words where it is not believed. Shape: evidence[side] of
 * the cell, why[TURNS_TEXT_SIZE].
 */
enum turns_belief turns_judge(struct command *m, const struct turns_session *s, const struct turns_cell *c,
	struct turns_evidence *evidence, char *why, struct fw_err *err);
/**
 * After the last launch: a gain that the worker's clock does not confirm, from turns of `calls` calls, is no improvement and accuses nobody. Closes the
 * cell as `unsure` and says so. Err: -1.
 */
int turns_judge_gain(struct command *m, int cell, const struct turns_evidence *evidence, int calls, struct fw_err *err);
/** Judge the cell by its pairs, and its bursts where it has some, and send them. Err: -1. */
int turns_record(struct command *m, const struct turns_session *s, const struct turns_cell *c, int set,
	const struct msg_guard *guard, int redo, struct fw_err *err);
/** Tell what the programs said of their cells when they listed them: first calls, memory, configurations, and outputs that differ. */
int turns_tell_lists(struct command *m, struct fw_err *err);

#endif
