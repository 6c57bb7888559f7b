/**
 * control.h - the control of a run that ended early: the base beside a copy of itself, over one cell. It makes the same calls and takes as much
 * memory, so a run that ends well with the copy and badly with the target ends badly because of the target.
 */
#ifndef WORKER_BENCH_CONTROL_H
#define WORKER_BENCH_CONTROL_H

#include "worker/bench/runner_child.h"

/** Run it. 1 it ended well; 0 not, with the class of the failure and the reason; -1. Shape: failure[16], detail[512]. */
int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err);

#endif
