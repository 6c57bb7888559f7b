/** interleave_record.h - what a session brought for a cell: whether it is believed, and the records that it becomes. */
#ifndef WORKER_COMMAND_INTERLEAVE_RECORD_H
#define WORKER_COMMAND_INTERLEAVE_RECORD_H

#include "worker/command/process_run.h"
#include "worker/command/interleave_session.h"

enum interleave_belief {
	INTERLEAVE_ERROR = -1,
	INTERLEAVE_FAULTY,           /* the cell has its fault, which was sent */
	INTERLEAVE_BELIEVED,         /* its times are to be recorded */
	INTERLEAVE_REFERENCE_FAULTY, /* the pairs beside the reference commit are no good: base and target have to be paired without it */
	INTERLEAVE_DOUBTED /* a side did what cannot be, for the first time: its times count for nothing, and another session tells */
};
/**
 * Hold what all sides say against what was seen of them, in this session and before. `why` in words where it is not believed. Shape: evidence[side] of
 * the cell, why[INTERLEAVE_TEXT_SIZE].
 */
enum interleave_belief interleave_judge(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	struct interleave_evidence *evidence, char *why, struct fw_err *err);
/**
 * After the last run: a gain that the worker's clock does not confirm, from turns of `calls` calls, is no improvement and accuses nobody. Closes the
 * cell as `unsure` and says so. Err: -1.
 */
int interleave_judge_gain(struct command *m, int cell, const struct interleave_evidence *evidence, int calls, struct fw_err *err);
/** Judge the cell by its pairs, and its sustained runs where it has some, and send them. Err: -1. */
int interleave_record(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err);
/** Tell what the programs said of their cells when they listed them: first calls, memory, configurations, and outputs that differ. */
int interleave_tell_lists(struct command *m, struct fw_err *err);

#endif
