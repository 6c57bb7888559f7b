/** turns_record.h - what a session brought for a cell: whether it is believed, and the records that it becomes. */
#ifndef WORKER_COMMAND_TURNS_RECORD_H
#define WORKER_COMMAND_TURNS_RECORD_H

#include "worker/command/launch.h"
#include "worker/command/turns_session.h"

/**
 * Hold what all sides say against what was seen of them. 1 believed; 0 the cell has its fault, which is told; 2 the anchor is at fault, `why` in
 * words, and the pairs beside it are no good: base and target have to be paired without it; -1. Shape: why[TURNS_TEXT_SIZE].
 */
int turns_judge(struct command *m, const struct turns_session *s, const struct turns_cell *c, char *why, struct fw_err *err);
/** Judge the cell by its pairs, and its bursts where it has some, and send them. Err: -1. */
int turns_record(struct command *m, const struct turns_session *s, const struct turns_cell *c, int set,
	const struct msg_guard *guard, int redo, struct fw_err *err);
/** Tell what the programs said of their cells when they listed them: first calls, memory, configurations, and outputs that differ. */
int turns_tell_lists(struct command *m, struct fw_err *err);

#endif
