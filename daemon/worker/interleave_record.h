/** interleave_record.h - checks of a session's results for a cell, and the records made of them. */
#ifndef WORKER_INTERLEAVE_RECORD_H
#define WORKER_INTERLEAVE_RECORD_H

#include "worker/program_run.h"
#include "worker/interleave_session.h"

enum interleave_belief {
	INTERLEAVE_ERROR = -1,
	INTERLEAVE_FAULTY,           /* the cell has its fault, which was sent */
	INTERLEAVE_BELIEVED,         /* its times are to be recorded */
	INTERLEAVE_REFERENCE_FAULTY, /* the pairs with the reference commit are unusable: pair base and target without it */
	INTERLEAVE_DOUBTED /* a side showed impossible times for the first time: they are discarded, and another session decides */
};
/**
 * Compare the reports of all sides with the worker's observations in this session and before. `why` receives the reason for a
 * rejection. Shape: evidence[side] of the cell, why[INTERLEAVE_TEXT_SIZE].
 */
enum interleave_belief interleave_judge(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	struct interleave_evidence *evidence, char *why, struct fw_err *err);
/**
 * After the last run: a gain, from turns of `calls` calls, that the worker's clock does not confirm is no improvement and no
 * fault. Closes the cell as `unsure` and reports it. Err: -1.
 */
int interleave_judge_gain(struct command *m, int cell, const struct interleave_evidence *evidence, int calls, struct fw_err *err);
/** Judge the cell by its pairs, and its sustained runs if any, and send them. Err: -1. */
int interleave_record(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err);
/** Send the programs' reports from their lists: first calls, memory, configurations, and differing outputs. */
int interleave_report_lists(struct command *m, struct fw_err *err);

#endif
