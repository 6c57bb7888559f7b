/**
 * control.h - control of a run that ended early: the base against a copy of itself, over one cell.
 *
 * The control makes the same calls and takes as much memory, so if the run ends well with the copy and badly with the target,
 * the target is the cause.
 */
#ifndef WORKER_CONTROL_H
#define WORKER_CONTROL_H

#include "worker/runner_child.h"

/**
 * Run the control. Returns 1 if it ended well; 0 if not, with the failure class and the reason; -1 on error. Shape:
 * failure[16], detail[512].
 */
int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err);

#endif
